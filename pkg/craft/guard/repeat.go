package guard

import (
	"encoding/base64"
	"hash/fnv"
	"math"
	"strings"
	"unicode"
)

// Signature stands for a text in comparisons: the share of equal bytes of two signatures estimates how much the texts
// have in common, and does not tell what they say.
type Signature string

// Past is an earlier text of the channel.
type Past struct {
	ID string
	Signature
}

// The size of signatures in bytes, the length of the pieces of texts that they compare in letters, the shortest text
// that is compared, and the share of common pieces from which a text repeats another.
const (
	signatureSize = 96
	shingle       = 5
	denseShingle  = 2 // in scripts without spaces, whose characters are words
	leastText     = 40
	repeated      = 0.5
)

// MaxPast is the number of earlier texts that an answer is compared with.
const MaxPast = 200

// Sign returns the signature of an answer, empty if it is too short to be compared. It is a MinHash of one byte for
// each hash: the smallest hash of all pieces.
func Sign(answer []Field) Signature {
	var letters []rune
	dense := 0
	for _, f := range answer {
		if f.Tag {
			continue
		}
		for _, r := range strings.ToLower(normal(f.Text)) {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				letters = append(letters, r)
				if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
					dense++
				}
			}
		}
	}
	size, least := shingle, leastText
	if 2*dense > len(letters) {
		size, least = denseShingle, leastText/2
	}
	if len(letters) < least {
		return ""
	}
	smallest := [signatureSize]uint64{}
	for i := range smallest {
		smallest[i] = math.MaxUint64
	}
	for i := range len(letters) - size + 1 {
		h := fnv.New64a()
		h.Write([]byte(string(letters[i : i+size])))
		for n, seed := 0, h.Sum64(); n < signatureSize; n++ {
			seed += 0x9e3779b97f4a7c15 // splitmix64
			x := seed
			x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
			x = (x ^ x>>27) * 0x94d049bb133111eb
			smallest[n] = min(smallest[n], x^x>>31)
		}
	}
	raw := make([]byte, signatureSize)
	for n, h := range smallest {
		raw[n] = byte(h)
	}
	return Signature(base64.RawStdEncoding.EncodeToString(raw))
}

// Like returns the estimated share of the pieces that two texts have in common, from 0 to 1.
func (s Signature) Like(o Signature) float64 {
	a, errA := base64.RawStdEncoding.DecodeString(string(s))
	b, errB := base64.RawStdEncoding.DecodeString(string(o))
	if errA != nil || errB != nil || len(a) != len(b) || len(a) == 0 {
		return 0
	}
	equal := 0.0
	for i := range a {
		if a[i] == b[i] {
			equal++
		}
	}
	const chance = 1.0 / 256
	return max(0, (equal/float64(len(a))-chance)/(1-chance))
}

// repeats returns a finding if the answer nearly repeats an earlier text.
func (r Rules) repeats(answer []Field) []Finding {
	if len(r.Past) == 0 {
		return nil
	}
	signature := Sign(answer)
	for _, p := range r.Past {
		if signature.Like(p.Signature) >= repeated {
			return []Finding{{Code: Repetitive, Text: p.ID}}
		}
	}
	return nil
}
