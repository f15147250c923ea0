package git

// Leave is the first step of Close, which a stop can keep from the second.
func (r *Remote) Leave() { r.leave() }
