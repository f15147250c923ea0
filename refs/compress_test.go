package refs

import (
	"bytes"
	"compress/flate"
	"errors"
	"io"
)

func (anything) CompressLog(raw []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(raw)
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}

func (anything) DecompressLog(size int, frame []byte) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(frame)), int64(size)+1))
	if err == nil && len(raw) != size {
		err = errors.New("another size")
	}
	return raw, err
}
