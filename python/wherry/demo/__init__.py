"""`make demo`: some rows of `wherry bench programs`, and a page of them that needs no other."""
