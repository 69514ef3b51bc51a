"""Archives that were written by earlier versions, and must be read by all later ones."""
