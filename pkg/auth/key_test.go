package auth_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
)

var shape = regexp.MustCompile(`^svc_(live|test)_[0-9A-Za-z]{49}$`)

// keys makes keys of both modes, from randomness that is small, large and any.
func keys(t *testing.T) map[string]tenant.Mode {
	t.Helper()
	made := map[string]tenant.Mode{}
	for _, mode := range []tenant.Mode{tenant.Live, tenant.Test} {
		for _, random := range []io.Reader{
			bytes.NewReader(make([]byte, 32)), bytes.NewReader(bytes.Repeat([]byte{0xff}, 32)), rand.Reader,
			rand.Reader, rand.Reader,
		} {
			key, err := auth.NewKey(mode, random)
			if err != nil {
				t.Fatal(err)
			}
			made[key] = mode
		}
	}
	if len(made) != 10 {
		t.Fatalf("there are equal keys: %v", made)
	}
	return made
}

func TestKeysHaveOneShape(t *testing.T) {
	for key, mode := range keys(t) {
		if !shape.MatchString(key) || !strings.HasPrefix(key, "svc_"+string(mode)+"_") {
			t.Errorf("%s is no key of mode %s", key, mode)
		}
		if got, ok := auth.ParseKey(key); !ok || got != mode {
			t.Errorf("%s is read as %q, %v", key, got, ok)
		}
		if len(key[:auth.PrefixLength]) != 13 {
			t.Errorf("the prefix is %s", key[:auth.PrefixLength])
		}
	}
}

func TestAnyChangedCharacterIsNoticed(t *testing.T) {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
	for key := range keys(t) {
		for i := range key {
			for _, c := range digits {
				mistyped := key[:i] + string(c) + key[i+1:]
				if _, ok := auth.ParseKey(mistyped); ok != (mistyped == key) {
					t.Errorf("%s is taken for %s", mistyped, key)
				}
			}
		}
		// Two neighbours in the wrong order are the other common slip.
		for i := range len(key) - 1 {
			swapped := key[:i] + key[i+1:i+2] + key[i:i+1] + key[i+2:]
			if _, ok := auth.ParseKey(swapped); ok != (swapped == key) {
				t.Errorf("%s is taken for %s", swapped, key)
			}
		}
	}
}

func TestTheModeBelongsToTheKey(t *testing.T) {
	for key, mode := range keys(t) {
		other := strings.Replace(key, "_live_", "_test_", 1)
		if mode == tenant.Test {
			other = strings.Replace(key, "_test_", "_live_", 1)
		}
		if got, ok := auth.ParseKey(other); ok {
			t.Errorf("%s was made %s, and is read as %s", key, mode, got)
		}
	}
}

func TestWhatIsNoKey(t *testing.T) {
	for key := range keys(t) {
		for _, s := range []string{
			"", "svc_", "svc_live", "svc_live_", key[:len(key)-1], key + "0", " " + key, key + " ", key + "\n",
			"Bearer " + key,
			strings.ToUpper(key), "x" + key[1:], strings.TrimPrefix(key, "svc_"), strings.Replace(key, "_", "-", 1),
			"svc_demo_" + key[9:], strings.Repeat(key, 2), strings.Repeat("a", 100_000),
		} {
			if mode, ok := auth.ParseKey(s); ok {
				t.Errorf("%.80q is read as a key of mode %s", s, mode)
			}
		}
	}
}

func TestAHashIsAllThatIsKept(t *testing.T) {
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // of FIPS 180-2
	if got := auth.HashKey("abc"); got != want {
		t.Errorf("the hash is %s", got)
	}
}

func TestNoKeyIsMadeWithoutRandomness(t *testing.T) {
	broken := errors.New("broken")
	for _, random := range []io.Reader{iotest.ErrReader(broken), bytes.NewReader(make([]byte, 31))} {
		if key, err := auth.NewKey(tenant.Live, random); err == nil || key != "" {
			t.Errorf("made %q", key)
		}
	}
}

// Those who search texts for leaked keys read the pattern in SECURITY.md.
func TestThePatternFindsKeys(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "    "+auth.Pattern+"\n") {
		t.Errorf("SECURITY.md has another pattern than %s", auth.Pattern)
	}
	pattern := regexp.MustCompile(auth.Pattern)
	for range 100 {
		key, err := auth.NewKey(tenant.Live, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if got := pattern.FindString("key=" + key + ";"); got != key {
			t.Fatalf("found %q of %s", got, key)
		}
	}
}
