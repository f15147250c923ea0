package format

const blobVersion = 1

// EncodeBlob returns the header of a blob. The body of a blob is opaque bytes without a nonce, so
// equal bytes have equal ids. docs/format/blob.md describes the header.
func EncodeBlob(body Body) ([]byte, error) {
	b := blob(body)
	return encode("blob", blobVersion, &b)
}

// DecodeBlob reads the header of a blob and returns its body line.
func DecodeBlob(b []byte) (Body, error) {
	body, err := decode(b, "blob", blobVersion, &blob{})
	if err != nil {
		return Body{}, err
	}
	return Body(*body), nil
}

// blob is the header of a blob as an Object.
type blob Body

func (b *blob) lines(c *Lines)         { c.body((*Body)(b), false) }
func (b *blob) check() error           { return nil }
func (b blob) Encode() ([]byte, error) { return EncodeBlob(Body(b)) }
func (b blob) Links() []Link           { return nil }
