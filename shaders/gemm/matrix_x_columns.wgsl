//! A cooperative matrix of operand x, whose columns are rows of the stage.
var x_matrix: mat_x = coopLoad<mat_x>(&x_tile[x_at], X_LD);
