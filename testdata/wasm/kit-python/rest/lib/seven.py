seven = 7
