"""Charts that figures are made of: the theme, a few kinds of marks, and saving them."""
