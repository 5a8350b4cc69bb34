package generate

import (
	"cmp"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media/provenance"
)

// Origin is what is known of the origin of media before they are composed.
type Origin struct {
	// Test reports whether a test key has asked for them: they are drafts, with a test certificate.
	Test bool
	Credit
	// GeneratedFiles are the generated files by their keys, with the model that has made each, if it is known. All
	// other files are the caller's.
	GeneratedFiles map[string]*provenance.Model
	// Models are all that took part, writers of texts included.
	Models []provenance.Model
}

// Credit is what a resource decides of the origin of its media.
type Credit struct {
	// Line names who provides the media. It may be empty.
	Line string
	// Prompt is the version of the prompt of the texts. It may be empty.
	Prompt string
	// Generated reports whether the caller has said that their own files were generated.
	Generated bool
}

// Crediting is Work whose media name more of their origin than their models.
type Crediting interface {
	Credit(made []PartResult) Credit
}

// origin returns the origin of the media that part n is composed of.
func (t *turn) origin(work Work) Origin {
	o := Origin{Test: t.Mode == tenant.Test, GeneratedFiles: map[string]*provenance.Model{}}
	if crediting, ok := work.(Crediting); ok {
		o.Credit = crediting.Credit(t.results())
	}
	known := map[string]bool{}
	for _, p := range t.Parts[:t.n] {
		for _, c := range p.Calls {
			if m := c.model(); m != nil && c.is(done) {
				if !known[m.ID] {
					o.Models = append(o.Models, *m)
				}
				known[m.ID] = true
			}
		}
		for _, f := range p.Result.Files {
			o.GeneratedFiles[f.Key] = p.Calls[0].model()
		}
	}
	return o
}

// model returns the model of a call, or nil if it has none.
func (c *call) model() *provenance.Model {
	m, ok := catalog.Find(cmp.Or(c.StandIn, c.Model))
	if !ok {
		return nil
	}
	return &provenance.Model{Name: m.Name, ID: m.ID, Maker: m.Provider}
}

// statement returns what a file that the call's model has made says of its origin.
func (c *call) statement() provenance.Statement {
	s := provenance.Statement{Source: provenance.Generated}
	if m := c.model(); m != nil {
		s.Systems = m.Name
	}
	return s
}
