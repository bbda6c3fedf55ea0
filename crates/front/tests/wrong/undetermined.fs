let identity x = x
