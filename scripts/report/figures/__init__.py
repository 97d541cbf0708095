"""The paper's figures from runs, in one house style."""
