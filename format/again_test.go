package format_test

import "github.com/gemini-ctx/ctx/format"

// The functions of this file decode bytes and encode the result again.

func againEntry(b []byte) ([]byte, error) {
	v, err := format.DecodeEntry(b)
	if err != nil {
		return nil, err
	}
	return v.Encode()
}

func againBlob(b []byte) ([]byte, error) {
	v, err := format.DecodeBlob(b)
	if err != nil {
		return nil, err
	}
	return format.EncodeBlob(v)
}

func againNode(b []byte) ([]byte, error) {
	v, err := format.DecodeNode(b)
	if err != nil {
		return nil, err
	}
	return v.Encode()
}

func againSummary(b []byte) ([]byte, error) {
	v, err := format.DecodeSummary(b)
	if err != nil {
		return nil, err
	}
	return v.Encode()
}

func againMask(b []byte) ([]byte, error) {
	v, err := format.DecodeMask(b)
	if err != nil {
		return nil, err
	}
	return v.Encode()
}

func againReplace(b []byte) ([]byte, error) {
	v, err := format.DecodeReplacement(b)
	if err != nil {
		return nil, err
	}
	return v.Encode()
}

func againTombstone(b []byte) ([]byte, error) {
	v, err := format.DecodeTombstone(b)
	if err != nil {
		return nil, err
	}
	return v.Encode()
}

func againPage(b []byte) ([]byte, error) {
	v, err := format.DecodePage(b)
	if err != nil {
		return nil, err
	}
	return v.Encode()
}

func againForest(b []byte) ([]byte, error) {
	v, err := format.DecodeForest(b)
	if err != nil {
		return nil, err
	}
	return v.Encode()
}

func againEpoch(b []byte) ([]byte, error) {
	v, err := format.DecodeEpoch(b)
	if err != nil {
		return nil, err
	}
	return v.Encode()
}

func againAbsent(b []byte) ([]byte, error) {
	v, err := format.DecodeAbsent(b)
	if err != nil {
		return nil, err
	}
	return v.Encode()
}

func againForgotten(b []byte) ([]byte, error) {
	v, err := format.DecodeForgotten(b)
	if err != nil {
		return nil, err
	}
	return v.Encode()
}

func againCheckpoint(b []byte) ([]byte, error) {
	v, err := format.DecodeCheckpoint(b)
	if err != nil {
		return nil, err
	}
	return v.Encode()
}

func againStore(b []byte) ([]byte, error) {
	v, err := format.DecodeStoreFormat(b)
	if err != nil {
		return nil, err
	}
	return v.Encode(), nil
}

// againOperation also appends the bytes after the record, so that its result can be compared with
// its input like that of the other functions.
func againOperation(b []byte) ([]byte, error) {
	op, digest, n, err := format.DecodeOperation(b)
	if err != nil {
		return nil, err
	}
	record, sum, err := op.Encode()
	if err != nil {
		return nil, err
	}
	if sum != digest || len(record) != n {
		return nil, errDigest
	}
	return append(record, b[n:]...), nil
}
