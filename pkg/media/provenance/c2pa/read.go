package c2pa

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/budget"
	"github.com/content-automation/api/pkg/media/provenance"
)

// maxClaims bounds the claims of a report, and maxWords the bytes of a text in it.
const (
	maxClaims = 100
	maxWords  = 200
)

// manifests is what the library may say of a file. Files that were edited often have some hundred KB.
var manifests = budget.Budget{Name: "Content Credentials", Bytes: 8 << 20, Elements: 100_000, Depth: 100,
	Time: 10 * time.Second}

// store is the library's description of a file.
type store struct {
	Active    string              `json:"active_manifest"`
	Manifests map[string]manifest `json:"manifests"`
	State     string              `json:"validation_state"`
	Status    []struct {
		Code string `json:"code"`
	} `json:"validation_status"`
}

type manifest struct {
	Generators []struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"claim_generator_info"`
	Assertions []struct {
		Label string          `json:"label"`
		Data  json.RawMessage `json:"data"`
	} `json:"assertions"`
	Ingredients []struct {
		Title    string `json:"title"`
		Relation string `json:"relationship"`
		Active   string `json:"active_manifest"`
	} `json:"ingredients"`
	Signature struct {
		Issuer string `json:"issuer"`
		Name   string `json:"common_name"`
	} `json:"signature_info"`
}

type action struct {
	Action string          `json:"action"`
	Source string          `json:"digitalSourceType"`
	Agent  json.RawMessage `json:"softwareAgent"`
}

// Read reads the manifest of a file. The anchors, in PEM, are the certificates that are trusted to issue others. It
// makes no calls: a file with the address of a manifest counts as a file without one.
func (l *Library) Read(ctx context.Context, mimeType string, file io.ReadSeeker, anchors []byte) (provenance.Report,
	error) {
	c := l.begin(ctx, nil)
	defer c.end()
	settings := object{
		"verify": object{"remote_manifest_fetch": false, "ocsp_fetch": false, "verify_trust": true},
		"core":   object{"max_decompressed_manifest_size_in_mb": 16},
	}
	if len(anchors) > 0 {
		settings["trust"] = object{"user_anchors": string(anchors)}
	}
	trust, err := json.Marshal(settings)
	if err != nil {
		return provenance.Report{}, fmt.Errorf("c2pa: %w", err)
	}
	context, err := c.context(string(trust))
	if err != nil {
		return provenance.Report{}, err
	}
	source, err := c.open(file)
	if err != nil {
		return provenance.Report{}, err
	}
	r := c.newReader(context)
	if r != 0 {
		r = c.readFrom(r, mimeType, source)
	}
	if r == 0 {
		err := c.fail("read")
		var e *Error
		switch {
		case !errors.As(err, &e):
			return provenance.Report{}, err
		case strings.HasPrefix(e.Text, "ManifestNotFound"), strings.HasPrefix(e.Text, "NotSupported"):
			return provenance.Report{Signature: provenance.None}, nil
		}
		return provenance.Report{Signature: provenance.Invalid, Problems: []string{word(e.Text)}}, nil
	}
	c.frees(r)
	said := []byte(c.text(c.describe(r)))
	if err := manifests.JSON(ctx, said); errors.Is(err, budget.ErrExceeded) {
		return provenance.Report{Signature: provenance.Invalid, Problems: []string{"manifest.tooLarge"}}, nil
	} else if err != nil {
		return provenance.Report{}, err
	}
	var s store
	if err := json.Unmarshal(said, &s); err != nil {
		return provenance.Report{}, fmt.Errorf("c2pa: the library's report: %w", err)
	}
	return s.report(), nil
}

func (s store) report() provenance.Report {
	active := s.Manifests[s.Active]
	r := provenance.Report{Signature: provenance.Untrusted, Signer: clip(active.Signature.Name)}
	if r.Signer == "" {
		r.Signer = clip(active.Signature.Issuer)
	}
	switch s.State {
	case "Trusted":
		r.Signature = provenance.Valid
	case "Valid":
	default:
		r.Signature = provenance.Invalid
	}
	for _, p := range s.Status {
		if len(r.Problems) < maxClaims && !slices.Contains(r.Problems, p.Code) {
			r.Problems = append(r.Problems, clip(p.Code))
		}
	}
	for _, g := range active.Generators[:min(len(active.Generators), 1)] {
		r.Generator = clip(strings.TrimSpace(g.Name + " " + g.Version))
	}
	s.state(&r, active)
	stated := map[string]bool{s.Active: true}
	for _, in := range active.Ingredients {
		if len(r.Facts) >= maxClaims {
			break
		}
		claim(&r, provenance.Fact{Kind: "ingredient", Name: in.Title, As: in.Relation})
		if of, ok := s.Manifests[in.Active]; ok && !stated[in.Active] { // several ingredients may be of one manifest
			stated[in.Active] = true
			s.state(&r, of)
		}
	}
	return r
}

// state adds the actions and models of a manifest to a report.
func (s store) state(r *provenance.Report, m manifest) {
	for _, a := range m.Assertions {
		if len(r.Facts) >= maxClaims {
			return
		}
		switch {
		case strings.HasPrefix(a.Label, "c2pa.actions"):
			var done struct {
				Actions []action `json:"actions"`
			}
			_ = json.Unmarshal(a.Data, &done) // an assertion that has another form says nothing
			for _, one := range done.Actions {
				source := provenance.SourceOf(one.Source)
				if r.Signed == "" {
					r.Signed = source
				}
				claim(r, provenance.Fact{Kind: "action", Name: one.Action, By: nameOf(one.Agent), Source: source})
			}
		case strings.HasPrefix(a.Label, "c2pa.ai-disclosure"):
			var model struct {
				Name string `json:"modelName"`
			}
			if json.Unmarshal(a.Data, &model) == nil && model.Name != "" {
				claim(r, provenance.Fact{Kind: "model", Name: model.Name})
			}
		}
	}
}

func claim(r *provenance.Report, s provenance.Fact) {
	s.Name, s.By, s.As = clip(s.Name), clip(s.By), clip(s.As)
	if len(r.Facts) < maxClaims && !slices.Contains(r.Facts, s) {
		r.Facts = append(r.Facts, s)
	}
}

// nameOf returns the name of the software that has acted: a text, or an object with one.
func nameOf(agent json.RawMessage) (name string) {
	if json.Unmarshal(agent, &name) == nil {
		return name
	}
	var named struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(agent, &named)
	return named.Name
}

func clip(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), 4*maxWords)], "")
	for len(text) > maxWords {
		r := []rune(text)
		text = string(r[:len(r)-max(1, (len(text)-maxWords)/4)])
	}
	return text
}

// word returns the kind of an error of the library.
func word(text string) string {
	kind, _, _ := strings.Cut(text, ":")
	return clip(kind)
}
