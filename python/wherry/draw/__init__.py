"""What all pictures share: matplotlib's figures, and SVG and HTML without it."""
