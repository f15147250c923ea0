package format

import "fmt"

const blobVersion = 1

// EncodeBlob returns the header of a blob. The body of a blob is opaque bytes without a nonce, so
// equal bytes have equal ids. docs/format/blob.md describes the header.
func EncodeBlob(body Body) ([]byte, error) {
	w := newHeader("blob", blobVersion)
	w.body(body)
	return w.bytes()
}

// DecodeBlob reads the header of a blob and returns its body line.
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

// blob is the header of a blob as an Object.
type blob Body

func (b blob) Encode() ([]byte, error) { return EncodeBlob(Body(b)) }
func (b blob) Links() []Link           { return nil }
