package main

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
)

// drawn returns what a process with a seed draws: names, if any, and an id.
func drawn(t *testing.T, seed uint64, names int) (all []string) {
	t.Helper()
	reader, generator := rand.Reader, uuid.DefaultGenerator
	defer func() { rand.Reader, uuid.DefaultGenerator = reader, generator }()
	seedProcess(seed)
	for range names {
		all = append(all, rand.Text())
	}
	id, err := uuid.NewV7AtTime(time.Unix(1_800_000_000, 0))
	if err != nil {
		t.Fatal(err)
	}
	return append(all, id.String())
}

func TestASeedDecidesWhatIsRandom(t *testing.T) {
	first := drawn(t, 1, 1)
	if again := drawn(t, 1, 1); again[0] != first[0] || again[1] != first[1] {
		t.Errorf("a seed gives %v and %v", first, again)
	}
	if other := drawn(t, 2, 1); other[0] == first[0] || other[1] == first[1] {
		t.Errorf("another seed gives %v, too", other)
	}
	if id := drawn(t, 1, 3)[3]; id != first[1] {
		t.Errorf("with more names, the id %s is %s", first[1], id)
	}
}
