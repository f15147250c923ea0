package summaries

import "github.com/gemini-ctx/ctx/format"

// lookOnce returns a reader for many claims in a row. Where nothing was ever forgotten or lost, it
// does not look for each object whether its body is gone. A forget that comes later changes nothing
// that was read here: under the lock it has to wait, and without the lock NothingForgotten refuses
// the answers.
func (s *Reader) lookOnce() (*Reader, error) {
	none, err := s.Objects.NothingGone()
	return &Reader{Reader: s.Reader, clusters: s.clusters, nothingGone: none}, err
}

// gone returns those of ids whose bodies are gone.
func (s *Reader) gone(ids []format.ID) ([]format.ID, error) {
	if s.nothingGone {
		return nil, nil
	}
	return s.Objects.Gone(ids)
}

// seal makes the object of a text that was made of words: see history.Reader.SealNew.
func (s *Reader) seal(
	text []byte, media string, encode func(format.Body) ([]byte, error),
) (format.Raw, error) {
	if s.nothingGone {
		return s.Seal(text, media, encode)
	}
	return s.SealNew(text, media, encode)
}
