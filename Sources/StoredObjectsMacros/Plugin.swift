#if Macros
  import StoredSyntax
  import SwiftCompilerPlugin
  import SwiftSyntaxMacros

  enum StoredMacro: StoredExpansion {}
  enum StoredFieldMacro: StoredFieldExpansion {}
  enum DroppedMacro: DroppedExpansion {}
  enum MarkMacro: MarkExpansion {}
  enum IndexMacro: IndexExpansion {}

  /// The macros, as the compiler finds them.
  @main struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
      StoredMacro.self, StoredFieldMacro.self, DroppedMacro.self, MarkMacro.self,
      IndexMacro.self,
    ]
  }
#else
  /// Without the trait `Macros` there is none.
  @main struct Plugin {
    static func main() {}
  }
#endif
