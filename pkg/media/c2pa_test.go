package media_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/media/provenance/c2pa"
)

// tools is where `make media-tools` installs.
var c2paTools = filepath.Join("..", "..", ".tools", "media")

// files are files of every kind, as ffmpeg makes them, by their extension.
var files = map[string]struct {
	mime string
	args []string
}{
	"jpg":  {"image/jpeg", []string{"-f", "lavfi", "-i", "testsrc2=s=320x400", "-frames:v", "1"}},
	"png":  {"image/png", []string{"-f", "lavfi", "-i", "testsrc2=s=320x400", "-frames:v", "1"}},
	"webp": {"image/webp", []string{"-f", "lavfi", "-i", "testsrc2=s=320x400", "-frames:v", "1", "-c:v", "libwebp"}},
	"mp4": {"video/mp4", []string{"-f", "lavfi", "-i", "testsrc2=s=320x400:d=1", "-f", "lavfi", "-i", "sine=d=1", "-c:v",
		"libx264", "-c:a", "aac", "-movflags", "+faststart"}},
	"m4a": {"audio/mp4", []string{"-f", "lavfi", "-i", "sine=d=1", "-c:a", "aac"}},
	"mp3": {"audio/mpeg", []string{"-f", "lavfi", "-i", "sine=d=1", "-c:a", "libmp3lame"}},
	"wav": {"audio/wav", []string{"-f", "lavfi", "-i", "sine=d=1"}},
}

func c2paBuild(t testing.TB, ext string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a."+ext)
	args := append([]string{"-v", "error", "-nostdin", "-y"}, files[ext].args...)
	if out, err := exec.CommandContext(t.Context(), filepath.Join(c2paTools, "ffmpeg"), append(args, path)...).
		CombinedOutput(); err != nil {
		t.Fatalf("%v: %s (make media-tools installs what is missing)", err, out)
	}
	return path
}

func library(t testing.TB) *c2pa.Library {
	t.Helper()
	l, err := c2pa.Open(filepath.Join(c2paTools, "c2pa", "libs", "libc2pa_c.so"))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func signer(t testing.TB) c2pa.Signer {
	t.Helper()
	s, err := c2pa.NewTest(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func opened(t testing.TB, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// signed marks a file, signs it, and returns the path of the signed one.
func signed(t testing.TB, l *c2pa.Library, s c2pa.Signer, ext string, claim provenance.Claim) string {
	t.Helper()
	content, err := os.ReadFile(c2paBuild(t, ext))
	if err != nil {
		t.Fatal(err)
	}
	said := provenance.Statement{Source: claim.Source, Credit: "Acme"}
	if content, err = provenance.Marked(t.Context(), content, said); err != nil {
		t.Fatal(err)
	}
	to, err := os.Create(filepath.Join(t.TempDir(), "signed."+ext))
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	if err := l.Sign(t.Context(), s, claim, files[ext].mime, bytes.NewReader(content), to); err != nil {
		t.Fatal(err)
	}
	return to.Name()
}

func read(t testing.TB, l *c2pa.Library, path string, anchors []byte) provenance.Report {
	t.Helper()
	r, err := l.Read(t.Context(), files[strings.TrimPrefix(filepath.Ext(path), ".")].mime, opened(t, path), anchors)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var flux = provenance.Model{Name: "FLUX 1.1 [pro]", ID: "flux-pro-1.1", Maker: "fal"}

// elsewhere validates a file by the binding of the library for Python.
func elsewhere(t testing.TB, path string, anchors []byte) (store struct {
	State     string         `json:"validation_state"`
	Active    string         `json:"active_manifest"`
	Manifests map[string]any `json:"manifests"`
}) {
	t.Helper()
	const program = `import sys, json, c2pa
anchors, path, kind = sys.argv[1:]
settings = {"verify": {"verify_trust": True, "remote_manifest_fetch": False}}
if anchors: settings["trust"] = {"user_anchors": anchors}
settings = c2pa.Settings.from_dict(settings)
with open(path, "rb") as f:
    print(c2pa.Reader(kind, f, context=c2pa.Context(settings)).json())`
	kind := files[strings.TrimPrefix(filepath.Ext(path), ".")].mime
	cmd := exec.CommandContext(t.Context(), "python3", "-c", program, string(anchors), path, kind)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+c2paTools)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &store)
	}
	if err != nil {
		t.Fatalf("c2pa-python: %v: %s", err, said.String())
	}
	return store
}

// Files of each kind are valid for another caller, with an ingredient that had a manifest of its own.
func TestOthersFindFilesOfEachKindValid(t *testing.T) {
	l, s := library(t), signer(t)
	anchor := c2pa.Anchor(s.Chain)
	part := signed(t, l, s, "jpg", provenance.Claim{Title: "from the model", Source: provenance.Generated,
		Models: []provenance.Model{flux}})
	for ext := range files {
		for _, relation := range []provenance.Relation{provenance.Component, provenance.Parent} {
			t.Run(ext+" "+string(relation), func(t *testing.T) {
				claim := provenance.Claim{Title: "final", Source: provenance.Composite, Models: []provenance.Model{flux},
					Prompt: "post.1", Ingredients: []provenance.Ingredient{
						{Title: "picture 1", MIMEType: "image/jpeg", Relation: relation, Model: &flux, File: opened(t, part)}}}
				path := signed(t, l, s, ext, claim)
				store := elsewhere(t, path, anchor)
				if store.State != "Trusted" || len(store.Manifests) != 2 {
					t.Errorf("%s, %d manifests: %v", store.State, len(store.Manifests), store)
				}
				whole, err := json.Marshal(store.Manifests[store.Active])
				if err != nil {
					t.Fatal(err)
				}
				for _, want := range []string{`"relationship":"` + string(relation) + `"`, `FLUX 1.1 [pro]`, `post.1`,
					`c2pa.ai-disclosure`, provenance.Composite.URI(), c2pa.TestName} {
					if !strings.Contains(string(whole), want) {
						t.Errorf("the manifest has no %s: %s", want, whole)
					}
				}
				if state := elsewhere(t, path, nil).State; state != "Valid" {
					t.Errorf("without an anchor it is %s", state)
				}
				r := read(t, l, path, anchor)
				if r.Signature != provenance.Valid || r.Signed == "" || r.Signer != c2pa.TestName ||
					!strings.HasPrefix(r.Generator, "Content Automation") {
					t.Errorf("%+v", r)
				}
				if !slices.Contains(r.Facts, provenance.Fact{Kind: "ingredient", Name: "picture 1", As: string(relation)}) ||
					!slices.Contains(r.Facts, provenance.Fact{Kind: "model", Name: flux.Name}) {
					t.Errorf("the claims are %+v", r.Facts)
				}
			})
		}
	}
}

func TestAChangedFileIsInvalid(t *testing.T) {
	l, s := library(t), signer(t)
	for ext := range files {
		path := signed(t, l, s, ext, provenance.Claim{Title: "a", Source: provenance.Generated})
		if r := read(t, l, path, nil); r.Signature != provenance.Untrusted {
			t.Errorf("%s is %+v", ext, r)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		at := len(content) - 40
		if ext == "mp4" || ext == "m4a" { // the media are what a manifest binds
			at = bytes.Index(content, []byte("mdat")) + 400
		}
		content[at] ^= 0x11
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if r := read(t, l, path, nil); r.Signature != provenance.Invalid || len(r.Problems) == 0 {
			t.Errorf("a changed %s is %+v", ext, r)
		}
	}
}

// A part whose manifest is broken, or whose format the library does not know, is named and stops nothing.
func TestAnIngredientThatCannotBeReadIsNamed(t *testing.T) {
	l, s := library(t), signer(t)
	photo, err := os.ReadFile(c2paBuild(t, "jpg"))
	if err != nil {
		t.Fatal(err)
	}
	garbage := append([]byte{0xff, 0xeb, 0, 60}, append([]byte("JP\x00\x01\x00\x00\x00\x01\x00\x00\x00\x32jumb\x00\x00\x00\x10jumdc2pa"),
		make([]byte, 26)...)...)
	broken := slices.Concat(photo[:2], garbage, photo[2:])
	claim := provenance.Claim{Title: "a", Source: provenance.Generated, Ingredients: []provenance.Ingredient{
		{Title: "broken", MIMEType: "image/jpeg", Relation: provenance.Component, File: bytes.NewReader(broken)},
		{Title: "unknown", MIMEType: "audio/aac", Relation: provenance.Component, File: strings.NewReader("no sound")},
		{Title: "whole", MIMEType: "image/jpeg", Relation: provenance.Component, File: bytes.NewReader(photo)},
	}}
	r := read(t, l, signed(t, l, s, "jpg", claim), c2pa.Anchor(s.Chain))
	if r.Signature != provenance.Valid {
		t.Errorf("%+v", r)
	}
	for _, name := range []string{"broken", "unknown", "whole"} {
		if !slices.Contains(r.Facts, provenance.Fact{Kind: "ingredient", Name: name, As: "componentOf"}) {
			t.Errorf("the manifest has no ingredient %s: %+v", name, r.Facts)
		}
	}
}

func TestAFileWithoutAManifestHasNoSignature(t *testing.T) {
	l := library(t)
	for ext := range files {
		if r := read(t, l, c2paBuild(t, ext), nil); r.Signature != provenance.None {
			t.Errorf("%s: %+v", ext, r)
		}
	}
}

// deadKey fails, as KMS does that does not answer.
type deadKey struct{}

var errDead = errors.New("no answer")

func (deadKey) Sign(context.Context, [sha256.Size]byte) ([]byte, error) { return nil, errDead }

func TestTheErrorsOfTheKeyAndTheFileReachTheCaller(t *testing.T) {
	l, s := library(t), signer(t)
	path := c2paBuild(t, "jpg")
	to, err := os.Create(filepath.Join(t.TempDir(), "to.jpg"))
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	claim := provenance.Claim{Title: "a", Source: provenance.Generated}
	if err := l.Sign(t.Context(), c2pa.Signer{Key: deadKey{}, Chain: s.Chain}, claim, "image/jpeg", opened(t, path),
		to); !errors.Is(err, errDead) {
		t.Errorf("a dead key: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Sign(ended, s, claim, "image/jpeg", opened(t, path), to); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
	var own *c2pa.Error
	if err := l.Sign(t.Context(), c2pa.Signer{Key: s.Key, Chain: []byte("none")}, claim, "image/jpeg", opened(t, path),
		to); !errors.As(err, &own) {
		t.Errorf("a chain that is none: %v", err)
	}
	if err := l.Sign(t.Context(), s, claim, "image/jpeg", strings.NewReader("no picture"), to); !errors.As(err, &own) {
		t.Errorf("a file that is none: %v", err)
	}
	// And the library goes on.
	if path := signed(t, l, s, "jpg", claim); read(t, l, path, c2pa.Anchor(s.Chain)).Signature != provenance.Valid {
		t.Error("later files are not signed")
	}
}

func TestATestCertificateIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "provenance.pem")
	a, err := c2pa.Kept(path, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	b, err := c2pa.Kept(path, time.Now())
	if err != nil || !bytes.Equal(a.Chain, b.Chain) {
		t.Errorf("%v", err)
	}
	l := library(t)
	made := signed(t, l, b, "jpg", provenance.Claim{Title: "a"})
	if r := read(t, l, made, c2pa.Anchor(a.Chain)); r.Signature != provenance.Valid {
		t.Errorf("%+v", r)
	}
	if err := os.WriteFile(path, []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c2pa.Kept(path, time.Now()); err == nil {
		t.Error("a broken file is taken")
	}
}

// No file makes the library crash, or its report anything but a signature that does not hold.
func FuzzRead(f *testing.F) {
	l, s := library(f), signer(f)
	path := signed(f, l, s, "jpg", provenance.Claim{Title: "a", Source: provenance.Generated,
		Models: []provenance.Model{flux}})
	content, err := io.ReadAll(opened(f, path))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(0, []byte{}, 0)
	f.Add(60, []byte("\xff\xff\xff\xff"), 400)
	f.Add(700, []byte("jumb"), 12_000)
	f.Fuzz(func(t *testing.T, at int, changed []byte, cut int) {
		if at < 0 || cut < 0 || at > len(content) || len(changed) > len(content)-at {
			return
		}
		broken := slices.Clone(content[:len(content)-min(cut, len(content)/2)])
		copy(broken[min(at, len(broken)):], changed)
		r, err := l.Read(t.Context(), "image/jpeg", bytes.NewReader(broken), c2pa.Anchor(s.Chain))
		if err != nil {
			t.Fatal(err)
		}
		if r.Signature == provenance.Valid && len(broken) != len(content) {
			t.Fatalf("a cut file is %+v", r)
		}
	})
}

// What a signature takes of a picture and of a video, in the sizes in which they are published.
func BenchmarkSign(b *testing.B) {
	l, s := library(b), signer(b)
	for ext, args := range map[string][]string{
		"jpg": {"-f", "lavfi", "-i", "testsrc2=s=1080x1350", "-frames:v", "1"},
		"mp4": {"-f", "lavfi", "-i", "testsrc2=s=1080x1920:d=20", "-c:v", "libx264", "-preset", "ultrafast", "-b:v", "4M",
			"-movflags", "+faststart"},
	} {
		path := filepath.Join(b.TempDir(), "a."+ext)
		if out, err := exec.CommandContext(b.Context(), filepath.Join(c2paTools, "ffmpeg"), append(append([]string{"-v",
			"error", "-y"}, args...), path)...).CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		to, err := os.Create(filepath.Join(b.TempDir(), "to"))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(ext, func(b *testing.B) {
			for b.Loop() {
				claim := provenance.Claim{Title: "final", Source: provenance.Generated, Models: []provenance.Model{flux}}
				if err := l.Sign(b.Context(), s, claim, files[ext].mime, opened(b, path), to); err != nil {
					b.Fatal(err)
				}
			}
		})
		_ = to.Close()
	}
}
