package sandbox

import (
	"bytes"
	"errors"
	"strconv"
	"testing"
)

func TestFilesAreMadeOnceWhileTheyAreKept(t *testing.T) {
	var f files
	made := map[string]int{}
	get := func(name string, size int) {
		t.Helper()
		file, err := f.get(name, func() ([]byte, error) {
			made[name]++
			return bytes.Repeat([]byte(name[:1]), size), nil
		})
		if err != nil || len(file) != size || file[0] != name[0] {
			t.Fatalf("%s: %d bytes, %v", name, len(file), err)
		}
	}
	for i := range keptFiles {
		get(strconv.Itoa(i), 10)
	}
	get("0", 10)
	get("more", 10) // in the place of 1, since 0 was used
	get("0", 10)
	get("1", 10)
	if made["0"] != 1 || made["1"] != 2 || made["2"] != 1 {
		t.Errorf("files were made %v times", made)
	}
	get("large", keptBytes-5)
	if len(f.names) != 1 || f.bytes != keptBytes-5 || len(f.byName) != 1 {
		t.Errorf("%d files of %d bytes are kept", len(f.names), f.bytes)
	}
	get("larger", keptBytes+1)
	get("larger", keptBytes+1)
	if made["larger"] != 2 || f.bytes > keptBytes {
		t.Errorf("a file that is too large was made %d times", made["larger"])
	}
	if _, err := f.get("none", func() ([]byte, error) { return nil, errors.New("broken") }); err == nil {
		t.Error("no error")
	}
	get("none", 1)
}
