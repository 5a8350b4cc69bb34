package generate_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/sample"
	"github.com/content-automation/api/pkg/adapter/provider/samples"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/composer"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/script"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/media/provenance/c2pa"
)

// credentials returns what signs, with test certificates.
func credentials(t *testing.T) *c2pa.Credentials {
	t.Helper()
	s, err := c2pa.NewTest(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	c, err := c2pa.OpenCredentials(filepath.Join(tools, "c2pa", "libs", "libc2pa_c.so"), s, nil)
	if err != nil {
		t.Fatalf("%v (make media-tools installs what is missing)", err)
	}
	return c
}

func TestPicturesSayTheLastDayInEachLanguage(t *testing.T) {
	day := time.Date(2026, 12, 4, 0, 0, 0, 0, time.UTC)
	for _, language := range samples.Written() {
		said := composer.Until(day, language)
		if !strings.Contains(said, "4") || !strings.Contains(said, "12") && language != "en" ||
			strings.ContainsAny(said, "%!") || !script.Drawable(said) {
			t.Errorf("%s: %q", language, said)
		}
	}
	for language, want := range map[string]string{"no": "t.o.m. 4.12.", "hu-HU": "12.04-ig", "fi": "4.12. asti",
		"sw": ""} {
		if said := composer.Until(day, language); said != want {
			t.Errorf("%s: %q, want %q", language, said, want)
		}
	}
}

// saved is a file that was saved, as the worker gets it.
type saved struct {
	media.File
	content []byte
}

func finished(t *testing.T, c *composer.Composer, what generate.Composition, o generate.Origin) (all []saved,
	err error) {
	t.Helper()
	o.Test = true
	err = c.Compose(t.Context(), what, o, func(int) {}, func(f media.File, body io.Reader, _ []byte) error {
		content, err := io.ReadAll(body)
		all = append(all, saved{f, content})
		return err
	})
	return all, err
}

// read returns what a finished file says, by its XMP and by its manifest.
func read(t *testing.T, c *c2pa.Credentials, f saved, mime string) (provenance.Statement, provenance.Report) {
	t.Helper()
	found, err := provenance.Read(t.Context(), bytes.NewReader(f.content), int64(len(f.content)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Read(t.Context(), mime, bytes.NewReader(f.content))
	if err != nil {
		t.Fatal(err)
	}
	return found.Statement, r
}

var flux = &provenance.Model{Name: "FLUX 1.1 [pro]", ID: "flux-pro-1.1", Maker: "fal"}

func TestFinishedFilesSayTheirOrigin(t *testing.T) {
	c, s := newComposer(t)
	signs := credentials(t)
	c.Credentials = signs
	ours, err := provenance.Marked(t.Context(), sample.Picture(540, 675, 2), provenance.Statement{
		Source: provenance.Generated,
		Credit: "Made with a model"})
	if err != nil {
		t.Fatal(err)
	}
	generated, photo := s.put(t, "generated", sample.Picture(540, 675, 1)), s.put(t, "photo", sample.Picture(540, 675, 3))
	marked := s.put(t, "marked", ours)
	model := generate.Origin{Credit: generate.Credit{Line: "Acme", Prompt: "post.1"},
		Models: []provenance.Model{*flux}, GeneratedFiles: map[string]*provenance.Model{"generated": flux}}
	own := generate.Origin{Credit: generate.Credit{Line: "Acme"}}
	claimed := generate.Origin{Credit: generate.Credit{Line: "Acme", Generated: true}}
	for name, c1 := range map[string]struct {
		what   generate.Composition
		origin generate.Origin
		want   provenance.Statement
	}{
		"generated": {generate.Picture{Use: generate.Post, File: generated}, model,
			provenance.Statement{Source: provenance.Generated, Credit: "Acme", Systems: flux.Name}},
		"with a logo of the caller": {generate.Picture{Use: generate.Post, File: generated,
			Brand: &generate.Brand{Logo: photo}}, model,
			provenance.Statement{Source: provenance.Composite, Credit: "Acme", Systems: flux.Name}},
		"own": {generate.Picture{Use: generate.Post, File: photo}, own, provenance.Statement{}},
		"own, said to be generated": {generate.Picture{Use: generate.Post, File: photo}, claimed,
			provenance.Statement{Source: provenance.Generated, Credit: "Acme"}},
		"own, marked as generated": {generate.Picture{Use: generate.Post, File: marked}, own,
			provenance.Statement{Source: provenance.Generated, Credit: "Acme, Made with a model"}},
	} {
		t.Run(name, func(t *testing.T) {
			files, err := finished(t, c, c1.what, c1.origin)
			if err != nil || len(files) != 1 {
				t.Fatalf("%d files, %v", len(files), err)
			}
			f := files[0]
			said, report := read(t, signs, f, "image/jpeg")
			if said != c1.want {
				t.Errorf("it says %+v, not %+v", said, c1.want)
			}
			if report.Signature != provenance.Valid || report.Signer != c2pa.TestName {
				t.Errorf("its manifest is %+v", report)
			}
			if p := *f.Provenance; p.DigitalSourceType != c1.want.Source.URI() || !p.C2PA ||
				p.Signer != c2pa.TestName || f.Likeness == "" {
				t.Errorf("it is described by %+v, likeness %q", p, f.Likeness)
			}
		})
	}
}

// The manifests of parts come with the finished file. Without the step that adds ingredients this fails.
func TestTheManifestOfAPartIsKept(t *testing.T) {
	c, s := newComposer(t)
	c.Credentials = credentials(t)
	made, err := finished(t, c, generate.Picture{Use: generate.Post, File: s.put(t, "generated",
		sample.Picture(540, 675, 1))}, generate.Origin{Models: []provenance.Model{*flux},
		GeneratedFiles: map[string]*provenance.Model{"generated": flux}})
	if err != nil {
		t.Fatal(err)
	}
	part := s.put(t, "part", made[0].content)
	part.MIMEType = "image/jpeg"
	clip := generate.Video{Format: generate.Portrait,
		Scenes: []generate.Scene{{Picture: part, Length: 2 * time.Second}}}
	files, err := finished(t, c, clip, generate.Origin{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(files, func(f saved) bool { return f.Role == media.Final })
	said, report := read(t, c.Credentials.(*c2pa.Credentials), files[i], "video/mp4")
	if said.Source != provenance.Generated || report.Signature != provenance.Valid {
		t.Errorf("%+v, %+v", said, report)
	}
	for _, want := range []provenance.Fact{{Kind: "ingredient", Name: "image of the customer", As: "componentOf"},
		{Kind: "model", Name: flux.Name}} {
		if !slices.Contains(report.Facts, want) {
			t.Errorf("the manifest does not say %+v: %+v", want, report.Facts)
		}
	}
}

// A model's file of the studio keeps its bytes' content, says its origin, and the manifest that it came with becomes
// what it is a version of.
func TestAWholeFileIsSignedAndStaysAVersionOfWhatItWas(t *testing.T) {
	c, s := newComposer(t)
	signs := credentials(t)
	c.Credentials = signs
	of := func(content []byte) generate.UnchangedFiles {
		f := *s.put(t, "generated", content)
		f.Type, f.MIMEType = media.Image, "image/jpeg"
		return generate.UnchangedFiles{f}
	}
	origin := generate.Origin{Models: []provenance.Model{*flux}, GeneratedFiles: map[string]*provenance.Model{"generated": flux}}
	first, err := finished(t, c, of(sample.Picture(540, 675, 1)), origin)
	if err != nil || len(first) != 1 {
		t.Fatalf("%d files, %v", len(first), err)
	}
	said, report := read(t, signs, first[0], "image/jpeg")
	created := provenance.Fact{Kind: "action", Name: "c2pa.created", By: flux.Name, Source: provenance.Generated}
	if said.Systems != flux.Name || report.Signature != provenance.Valid || !slices.Contains(report.Facts, created) {
		t.Errorf("it says %+v, and its manifest %+v", said, report)
	}
	second, err := finished(t, c, of(first[0].content), origin)
	if err != nil {
		t.Fatal(err)
	}
	_, report = read(t, signs, second[0], "image/jpeg")
	parent := provenance.Fact{Kind: "ingredient", Name: "image of " + flux.Name, As: "parentOf"}
	if report.Signature != provenance.Valid || !slices.Contains(report.Facts, parent) {
		t.Errorf("its manifest is %+v", report)
	}
	c.Credentials = broken{}
	third, err := finished(t, c, of(first[0].content), origin)
	if err != nil {
		t.Fatal(err)
	}
	_, report = read(t, signs, third[0], "image/jpeg")
	if report.Signature != provenance.Valid || !third[0].Provenance.C2PA || third[0].Provenance.Signer != "" {
		t.Errorf("without a certificate the manifest of the provider is %+v, %+v", report, third[0].Provenance)
	}
}

// broken is what signs when KMS does not answer, or when there is no certificate.
type broken struct{ err error }

func (b broken) Sign(context.Context, bool, provenance.Claim, string, io.ReadSeeker, io.ReadWriteSeeker) (string,
	error) {
	return "", b.err
}

func TestWithoutACertificateFilesSayTheirOriginAllTheSame(t *testing.T) {
	c, s := newComposer(t)
	c.Credentials = broken{}
	what := generate.Picture{Use: generate.Post, File: s.put(t, "generated", sample.Picture(540, 675, 1))}
	o := generate.Origin{GeneratedFiles: map[string]*provenance.Model{"generated": flux}}
	files, err := finished(t, c, what, o)
	if err != nil {
		t.Fatal(err)
	}
	said, report := read(t, credentials(t), files[0], "image/jpeg")
	if said.Source != provenance.Generated || report.Signature != provenance.None || files[0].Provenance.C2PA {
		t.Errorf("%+v, %+v, %+v", said, report, files[0].Provenance)
	}
	dead := errors.New("no answer")
	c.Credentials = broken{dead}
	if files, err := finished(t, c, what, o); !errors.Is(err, dead) || len(files) > 0 {
		t.Errorf("%d files, %v", len(files), err)
	}
}
