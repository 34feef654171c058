//! What products launch, bind and leave in memory.
