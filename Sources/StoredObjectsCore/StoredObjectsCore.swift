// What objects are saved with is part of what their users see: errors, durability, backends, buffers.
@_exported public import StoreEngine
