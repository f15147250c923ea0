package secrets

import "bytes"

// namesDigest reports whether the last word before a value names it as a digest, which is public:
// tx 0x…, "blockHash": "0x…", the hash is 0x…. The numbers of a curve, which cryptographic programs
// write as BigInt("0x…"), are as long.
func namesDigest(before []byte) bool {
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	last, rest := lastPart(line)
	if last == "is" || last == "was" || last == "id" {
		last, _ = lastPart(rest)
	}
	return isListed("digest", last)
}
