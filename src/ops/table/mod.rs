//! Operations as rows: what is listed here once, enums, functions, methods, definitions, tests and the book are made of.

mod functions;

pub(crate) use functions::function_rows;
