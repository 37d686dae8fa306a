// SourceRulesTests
