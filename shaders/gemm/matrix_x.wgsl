//! A cooperative matrix of operand x, whose rows are rows of the stage.
var x_matrix: mat_x = coopLoadT<mat_x>(&x_tile[x_at], X_LD);
