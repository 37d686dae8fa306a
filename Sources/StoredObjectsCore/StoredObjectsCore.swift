// Re-exported because errors, durability, backends and buffers are part of this module's API.
@_exported public import StoreEngine
