# What R says of the tables of a folder, for crates/linsep-cli/tests/brglm2.rs: Rscript brglm2.R FOLDER
#
# The last column of a table is the label. One line for each coefficient: file, column, the bias-reduced estimate of brglm2, and what a
# linear program says of the maximum-likelihood estimate. brglm2 0.8 and later leave that to the package detectseparation, which Debian
# does not have; this is its program (Konis, 2007), for each coefficient in both directions.

suppressMessages(library(brglm2))
library(lpSolve)

folder <- commandArgs(TRUE)[1]
for (path in sort(list.files(folder, "\\.csv$", full.names = TRUE))) {
  table <- read.csv(path, check.names = FALSE)
  y <- as.integer(factor(table[[ncol(table)]])) - 1
  x <- cbind(`(Intercept)` = 1, as.matrix(table[-ncol(table)]))
  kept <- !is.na(lm.fit(x, y)$coefficients)
  control <- list(type = "AS_mean", epsilon = 1e-10, maxit = 10000)
  fit <- suppressWarnings(brglmFit(x[, kept, drop = FALSE], y, family = binomial(), control = control))
  stopifnot(fit$converged)

  # delta in [-1, 1] with z %*% delta >= 0, as u = delta + 1 >= 0. Columns of size 1 keep the program's tolerances meaningful.
  z <- (2 * y - 1) * x[, kept, drop = FALSE]
  z <- sweep(z, 2, pmax(apply(abs(z), 2, max), 1e-300), "/")
  k <- ncol(z)
  end <- function(j, direction) {
    goal <- as.numeric(seq_len(k) == j)
    solved <- lp(direction, goal, rbind(z, diag(k)), c(rep(">=", nrow(z)), rep("<=", k)), c(rowSums(z), rep(2, k)))
    stopifnot(solved$status == 0)
    solved$objval - 1
  }
  status <- rep("aliased", length(kept))
  status[kept] <- sapply(seq_len(k), function(j) {
    up <- end(j, "max") > 1e-6
    down <- end(j, "min") < -1e-6
    if (up && down) "open" else if (up) "+inf" else if (down) "-inf" else "finite"
  })
  firth <- rep(0, length(kept))
  firth[kept] <- fit$coefficients
  cat(sprintf("%s,%s,%.12g,%s\n", basename(path), colnames(x), firth, status), sep = "")
}
