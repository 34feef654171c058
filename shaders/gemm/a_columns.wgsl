//! What is read of A before a step's products: nothing, each invocation reads what it needs when it needs it.
