package lock

// ReadOwner is readOwner.
var ReadOwner = readOwner
