package provenance

import (
	"image"
	"image/color"
	"math/bits"
	"strconv"
)

// Likeness is a hash of what a picture shows: 64 bits, of which each tells whether one of 8 x 8 areas is brighter than
// the next one (a difference hash). It hardly changes if the picture is encoded anew, scaled, or loses its metadata.
type Likeness uint64

// MaxDistance is the largest distance of two hashes that are of the same picture.
const MaxDistance = 6

// The grid of areas, and the points of each side of an area at which the picture is sampled.
const (
	likeColumns, likeRows = 9, 8
	likePoints            = 8
)

// LikenessOf returns the hash of a picture. It is 0 for one that shows too little to be told from others.
func LikenessOf(img image.Image) (hash Likeness) {
	b := img.Bounds()
	if b.Dx() < likeColumns || b.Dy() < likeRows {
		return 0
	}
	var light [likeRows][likeColumns]int
	for y := range likeRows * likePoints {
		for x := range likeColumns * likePoints {
			px := b.Min.X + (2*x+1)*b.Dx()/(2*likeColumns*likePoints)
			py := b.Min.Y + (2*y+1)*b.Dy()/(2*likeRows*likePoints)
			light[y/likePoints][x/likePoints] += int(color.GrayModel.Convert(img.At(px, py)).(color.Gray).Y)
		}
	}
	for _, row := range light {
		for i := range likeColumns - 1 {
			hash <<= 1
			if row[i] < row[i+1] {
				hash |= 1
			}
		}
	}
	if n := bits.OnesCount64(uint64(hash)); n < MaxDistance || n > 64-MaxDistance {
		return 0
	}
	return hash
}

// Distance returns the number of areas in which two hashes differ.
func (h Likeness) Distance(other Likeness) int { return bits.OnesCount64(uint64(h ^ other)) }

// Bands returns the four quarters of the hash. Two hashes of a distance below four share one of them.
func (h Likeness) Bands() (all [4]uint16) {
	for i := range all {
		all[i] = uint16(h >> (16 * i))
	}
	return all
}

// String returns the hash in hexadecimal, without zeros at its beginning.
func (h Likeness) String() string { return strconv.FormatUint(uint64(h), 16) }
