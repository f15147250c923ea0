package format_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
)

// golden holds the SHA-256 of the bytes of every sample; the SHA-256 of an object is its id. A
// changed sample is a changed format: it needs a new version (docs/format/versioning.md), never a
// new number in this table.
var golden = map[string][]string{
	"entry": {
		"a9c9416a88b8f63dcebe076db30b5729c83a29c08ae0fc63ad8d1c6bf13082e7",
		"7385fa2b09c206005203904a7e8a5e568b636feb8b2a1499f88f7bc5b56fd89c",
		"2cc74d26143f6454caed9090c3bf920a7887469649e3fc3fbdb23ed14dc27c6f",
		"7699ad8fda176292177cb6b8eb664854d4e53129b4c5f0c0cc9b2a08a9ef5238",
		"cd89f4029b03b6c219b4d65d7a1082dd3cbd91492a766ce344be36a7d6418314",
		"daeaf64534774ee9d4079876800069b556398734074aa7de155610e534387c4e",
		"072c4fedcb3a56b3eb5a51701e745aef87e445f4b42c6825bf0d13c4a178a743",
		"f2820d1d61f9deb8953e4618e166660de84b380936f544f15cda22246b933b79",
		"44e4c8d53ec647cebcee89344206f100e615707cd84ede55a83f05dcaead1f31",
		"3259fed54989a086fc504736be3f5343f4628a726b5f24ae14b3fef4361e0a80",
		"3c3dcd813f1af6f3963d6cae17ba5a4928e787a05b5cbc17b6999aac07d5865a",
		"993f346f97331512884892af3290232358604324668fcdde8432cfcefa200bd9",
	},
	"blob": {
		"461d9f5a7b02715efc75ddb9306a7dc69995ba2fd4f5742d3b05f1ef4a65c8ae",
	},
	"node": {
		"222b66e1796988587d3ba2328deca6eddd624e6130421719d1948c1d6199376e",
		"ceacc9752609660422aaba371f6d7affdff1b4a790e06b62848d9a304a314f89",
	},
	"summary": {
		"58244cfad6074cfbf513eac636ea4d3de06470fca885967b289e0c0def334487",
		"94f79e98b72220ed0802e78ca0a81576e043ea80f7b851aa4ee479e84ff60aed",
	},
	"tombstone": {
		"6258b3123fd144e37692188d7d4b0076a405cb7a5c3b2dd8600f0ed7464db835",
	},
	"page": {
		"0dd3a3f21bbc3822e4bf6d9e579735c5da9c164ad57be131d462837c39a9d5f7",
		"6f302df4bf5fad8597da4ff100864ecc9307d0e6e7ced6c60d58630f1596ee32",
	},
	"forest": {
		"7dc57720022de8825f2eca4f913f86858d540ac331aeda7a39f4fbfa7227dc17",
		"48a37027729e105c516af7ceb4cdb2bb5dfe51ae3279f260caab6a389ffcc270",
	},
	"epoch": {
		"9ade5cd957c64731d34cca56c08e600841d180095a110f9943cc86fdd04c5128",
		"ceb623e29312d1069a0e528a65a936eee46de9dd83952e038b671d1fbfd30123",
	},
	"mask": {
		"14467c7529de3e346a65da3dc6215488a0340486a46e41df2148f0cbe611f7d9",
	},
	"replace": {
		"f5bdb1069bb2f1f08c59c6e71c63ce7521b98b04e8950beecb57684fa33bded8",
	},
	"absent": {
		"3b11db27f5c07fd35749788bd2af27064261bd184febbbdd7c2119ab6c81e8c2",
	},
	"forgotten": {
		"88adeedaedf712fe5ed72473ac508f5fa4d60f815d63fc1e5cc5d7b5f8c865ab",
	},
	"operation": {
		"836a93105f38091a6d26bffedbcf6155c1e6d23b89c8890f9e48156bede97c12",
		"929a439a41d42a70e954d7fecf420207b3b208791dd73a0f95c11e36172ac1a6",
		"dbb9a6df0435495dab47508732e278d836eedc6a7912cd7476e2032c06cdc43f",
		"07fff58516991419c19d96f3a48c96f4a62ee6af4b014fdeb796310a806f7a71",
		"be1e5160ca15232b8d19862418fd69acfd4bb46b03248fd0f63b58129c613503",
		"8df3c02f6e885146054d012666c5670d578850cd574b8f80222444aeec52d54a",
	},
	"checkpoint": {
		"e1e6655a7d0bd387b920b6362644cc8c350bc56968237ab139e9de995a3b8edf",
		"8e27c3a6b6f5f40e0c559902ed1b6692d7baac276c4465d6d672d386b55f3996",
	},
	"store": {
		"2799a13230fac442ab85ef3cec2791e5e513c65438d7870e0ae3524cc3a98ad2",
		"a5b2f018a81adb2e01ad327ae66855c300022a16749338b3475ba1b3741082d3",
	},
}

func TestGolden(t *testing.T) {
	for _, c := range codecs(t) {
		var got []string
		for _, b := range c.samples {
			got = append(got, fmt.Sprintf("%x", sha256.Sum256(b)))
		}
		if !slices.Equal(got, golden[c.name]) {
			t.Errorf("%s: got %q", c.name, got)
		}
	}
}
