package format

import "fmt"

const blobVersion = 1

// EncodeBlob returns the header of a blob, opaque bytes without a nonce: equal bytes have equal ids.
// docs/format/blob.md is its page.
func EncodeBlob(body Body) ([]byte, error) {
	w := newHeader("blob", blobVersion)
	w.body(body)
	b, err := w.bytes()
	if err != nil {
		return nil, fmt.Errorf("blob: %w", err)
	}
	return b, nil
}

// DecodeBlob reads a blob's header.
func DecodeBlob(b []byte) (Body, error) {
	r, err := readHeader(b, "blob", blobVersion)
	if err != nil {
		return Body{}, fmt.Errorf("blob: %w", err)
	}
	body := r.mustBody()
	if err := r.done(); err != nil {
		return Body{}, fmt.Errorf("blob: %w", err)
	}
	return body, nil
}
