package clusters

// HasCachedCandidates reports whether the cache has candidates that the transaction can take.
func (t *Tx) HasCachedCandidates() (bool, error) {
	c, err := t.cachedCandidates()
	return c != nil, err
}

// LoadCandidates reads the candidates, as a graduation does.
func (t *Tx) LoadCandidates() error {
	_, err := t.candidates()
	return err
}
