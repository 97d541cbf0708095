"""The release of the paper's authors: their files of model outputs, read into run directories."""
