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
		"fa1565bd40815083701a369a0198677cb02e341217730af3fdc3b1db68e63384",
		"8d07327e9e407aaaba6bad08ff1a947a1604bc7f14915e5bbf3436846fdc98d1",
	},
	"forest": {
		"336940f3c976cdf4e111f2e069cc21e799f62fd232610d75b7cf28097a0189bd",
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
		"b4dfa9ef6610d8fd6528b60f80e4b30d2b1d08ff8578e2c8e2797d886e45b493",
	},
	"forgotten": {
		"88adeedaedf712fe5ed72473ac508f5fa4d60f815d63fc1e5cc5d7b5f8c865ab",
	},
	"operation": {
		"d02d659e8ede41f31a1ed641f14add9e500177f3aadbfaa91d95a705d59da715",
		"72ffe17551a31b503b903c4f97d19ba72448f2dbaec57b5d42cf696f03c91396",
		"caed9106a2857a3f840f74cb673d87cec5715fb92482f8c9a4d292da6353984b",
		"020a85677f9917173bdc1da6fe26b2a4adb870c0735895b76ddc1656927f8be0",
		"869f2542f1c1c97e94eb6fd00bddac6fcf634da8321e6cc5b1ec856d9e976a43",
	},
	"checkpoint": {
		"5d2dffde100ea4d99c959630938fd768c006692930a4b5f12c6ac6bc216184a1",
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
