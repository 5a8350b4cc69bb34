package c2pa

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/media/provenance"
)

// Signature is the state of a file's signature.
type Signature string

// The states of signatures.
const (
	None      Signature = "none"      // the file has no manifest
	Valid     Signature = "valid"     // the signature holds, and its certificate is trusted
	Untrusted Signature = "untrusted" // the signature holds, of a certificate that nobody vouches for
	Invalid   Signature = "invalid"   // the file or its manifest was changed, or the manifest is broken
)

// Report is what a file's manifest says.
type Report struct {
	Signature Signature `json:"signature"`
	// Signer is the name in the certificate, and Generator the software that has made the manifest.
	Signer    string            `json:"signer,omitempty"`
	Generator string            `json:"generator,omitempty"`
	Source    provenance.Source `json:"source,omitempty"`
	// Claims are what the file's own manifest says, and what those of its ingredients say.
	Claims []Statement `json:"claims,omitempty"`
	// Problems are the codes of what is wrong (C2PA 2.4, status codes).
	Problems []string `json:"problems,omitempty"`
}

// Statement is one claim of a manifest.
type Statement struct {
	// Kind is action, model or ingredient.
	Kind string `json:"kind"`
	// Name is that of the action, of the model or of the ingredient.
	Name string `json:"name"`
	// By is the software that has acted, and As the relation of an ingredient.
	By string `json:"by,omitempty"`
	As string `json:"as,omitempty"`
	// Source is the kind of origin that an action states.
	Source provenance.Source `json:"source,omitempty"`
}

// maxClaims bounds the claims of a report, and maxWords the bytes of a text in it.
const (
	maxClaims = 100
	maxWords  = 200
)

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

// Read reads the manifest of a file. The anchors, in PEM, are the certificates that are trusted to issue others. The
// network is not asked: a manifest that is elsewhere is none.
func (l *Library) Read(ctx context.Context, mimeType string, file io.ReadSeeker, anchors []byte) (Report, error) {
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
		return Report{}, fmt.Errorf("c2pa: %w", err)
	}
	context, err := c.context(string(trust))
	if err != nil {
		return Report{}, err
	}
	source, err := c.open(file)
	if err != nil {
		return Report{}, err
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
			return Report{}, err
		case strings.HasPrefix(e.Text, "ManifestNotFound"), strings.HasPrefix(e.Text, "NotSupported"):
			return Report{Signature: None}, nil
		}
		return Report{Signature: Invalid, Problems: []string{word(e.Text)}}, nil
	}
	c.frees(r)
	var s store
	if err := json.Unmarshal([]byte(c.text(c.describe(r))), &s); err != nil {
		return Report{}, fmt.Errorf("c2pa: the library's report: %w", err)
	}
	return s.report(), nil
}

func (s store) report() Report {
	active := s.Manifests[s.Active]
	r := Report{Signature: Untrusted, Signer: clip(active.Signature.Name)}
	if r.Signer == "" {
		r.Signer = clip(active.Signature.Issuer)
	}
	switch s.State {
	case "Trusted":
		r.Signature = Valid
	case "Valid":
	default:
		r.Signature = Invalid
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
	for _, in := range active.Ingredients {
		r.claim(Statement{Kind: "ingredient", Name: in.Title, As: in.Relation})
		if of, ok := s.Manifests[in.Active]; ok {
			s.state(&r, of)
		}
	}
	return r
}

// state adds the actions and models of a manifest to a report.
func (s store) state(r *Report, m manifest) {
	for _, a := range m.Assertions {
		switch {
		case strings.HasPrefix(a.Label, "c2pa.actions"):
			var done struct {
				Actions []action `json:"actions"`
			}
			_ = json.Unmarshal(a.Data, &done) // what has another form says nothing
			for _, one := range done.Actions {
				source := provenance.SourceOf(one.Source)
				if r.Source == "" {
					r.Source = source
				}
				r.claim(Statement{Kind: "action", Name: one.Action, By: nameOf(one.Agent), Source: source})
			}
		case strings.HasPrefix(a.Label, "c2pa.ai-disclosure"):
			var model struct {
				Name string `json:"modelName"`
			}
			if json.Unmarshal(a.Data, &model) == nil && model.Name != "" {
				r.claim(Statement{Kind: "model", Name: model.Name})
			}
		}
	}
}

func (r *Report) claim(s Statement) {
	s.Name, s.By, s.As = clip(s.Name), clip(s.By), clip(s.As)
	if len(r.Claims) < maxClaims && !slices.Contains(r.Claims, s) {
		r.Claims = append(r.Claims, s)
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
	text = strings.ToValidUTF8(text, "")
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
