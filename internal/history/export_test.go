package history

// HeadStamp is the stamp under which the cache has the state of a branch.
var HeadStamp = headStamp
