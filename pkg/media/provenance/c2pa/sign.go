package c2pa

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"unsafe"

	"github.com/content-automation/api/pkg/media/provenance"
)

// Key is the part of a seal.Signer that signs.
type Key interface {
	// Sign returns the signature of a SHA-256 digest as ASN.1 DER.
	Sign(ctx context.Context, digest [sha256.Size]byte) ([]byte, error)
}

// Signer is a key with its certificate.
type Signer struct {
	Key
	// Chain has the certificate and those that have issued it, in PEM.
	Chain []byte
}

// generator is the name of the service in manifests.
const generator = "Content Automation"

// release returns the version of the service: that of the sources that the program is built of.
var release = sync.OnceValue(func() string {
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, s := range build.Settings {
			if s.Key == "vcs.revision" {
				return s.Value[:min(len(s.Value), 12)]
			}
		}
	}
	return "unknown"
})

// settings are those of each signature: no pictures of the files in the manifests, no second reading, and no calls of
// the network.
const settings = `{"builder": {"thumbnail": {"enabled": false}, "actions": {"auto_created_action": {"enabled": ` +
	`false}, "auto_opened_action": {"enabled": false}, "auto_placed_action": {"enabled": false}}}, "verify": ` +
	`{"verify_after_sign": false, "remote_manifest_fetch": false, "ocsp_fetch": false}, "core": ` +
	`{"backing_store_memory_threshold_in_mb": 64}}`

// Sign writes a copy of a file with a signed manifest. The manifests of its ingredients come with it.
func (l *Library) Sign(ctx context.Context, s Signer, claim provenance.Claim, mimeType string, from io.ReadSeeker,
	to io.ReadWriteSeeker) error {
	c := l.begin(ctx, s.Key)
	defer c.end()
	context, err := c.context(settings)
	if err != nil {
		return err
	}
	b, err := c.builder(context, claim, mimeType)
	if err != nil {
		return err
	}
	signer := c.newSigner(c.number(c), signBack, 0, string(s.Chain), 0)
	if signer == 0 {
		return c.fail("read the certificate")
	}
	c.frees(signer)
	source, err := c.open(from)
	if err != nil {
		return err
	}
	target, err := c.open(to)
	if err != nil {
		return err
	}
	var manifest unsafe.Pointer
	if c.sign(b, mimeType, source, target, signer, &manifest) < 0 {
		return c.fail("sign")
	}
	if manifest != nil {
		c.freeManifest(manifest)
	}
	return nil
}

// builder returns the builder of a manifest with its ingredients. An ingredient that the library cannot read, because
// its format is unknown or its manifest broken, is named without its content.
func (c *call) builder(context handle, claim provenance.Claim, mimeType string) (handle, error) {
	unread := map[int]bool{}
	for {
		described, err := json.Marshal(definition(claim, mimeType, unread))
		if err != nil {
			return 0, fmt.Errorf("c2pa: %w", err)
		}
		b := c.newBuilder(context)
		if b != 0 {
			b = c.define(b, string(described)) // the one before is freed by it
		}
		if b == 0 {
			return 0, c.fail("define the manifest")
		}
		c.frees(b)
		before := len(unread)
		for i, in := range claim.Ingredients {
			var broken *Error
			if unread[i] {
				continue
			}
			if err := c.add(b, i, in); errors.As(err, &broken) {
				unread[i] = true
			} else if err != nil {
				return 0, err
			}
		}
		if len(unread) == before {
			return b, nil
		}
	}
}

// describe returns an ingredient in the library's form.
func describe(n int, in provenance.Ingredient) object {
	return object{"title": in.Title, "format": in.MIMEType, "relationship": in.Relation, "instance_id": ingredientID(n)}
}

// add adds an ingredient with its content, and the manifest that it has.
func (c *call) add(builder handle, n int, in provenance.Ingredient) error {
	file, err := c.open(in.File)
	if err != nil {
		return err
	}
	text, err := json.Marshal(describe(n, in))
	if err != nil {
		return fmt.Errorf("c2pa: %w", err)
	}
	if c.addIngredient(builder, string(text), in.MIMEType, file) != 0 {
		return c.fail("add the ingredient " + in.Title)
	}
	return nil
}

// ingredientID names an ingredient in the actions.
func ingredientID(n int) string { return fmt.Sprintf("ingredient-%d", n+1) }

type object = map[string]any

// definition returns the manifest in the library's form, with the ingredients that have no content.
func definition(claim provenance.Claim, mimeType string, unread map[int]bool) object {
	ingredients := []object{}
	for i, in := range claim.Ingredients {
		if unread[i] {
			ingredients = append(ingredients, describe(i, in))
		}
	}
	assertions := []object{{"label": "c2pa.actions.v2", "data": object{"actions": actions(claim)}}}
	for _, m := range claim.Models {
		assertions = append(assertions, object{"label": "c2pa.ai-disclosure", "data": object{
			"modelType": "c2pa.types.model", "modelName": m.Name, "modelIdentifier": m.ID,
		}})
	}
	return object{
		"claim_generator_info": []object{{"name": generator, "version": release()}},
		"title":                claim.Title, "format": mimeType, "assertions": assertions, "ingredients": ingredients,
	}
}

// mixed is the source of a file of which no part was generated: C2PA wants one of each file that is created.
const mixed provenance.Source = "composite"

// actions returns what was done. The first action creates the file, or opens the one that it is a version of.
func actions(claim provenance.Claim) (all []object) {
	first := object{"action": "c2pa.created", "digitalSourceType": cmp.Or(claim.Source, mixed).URI()}
	for i, in := range claim.Ingredients {
		if in.Relation == provenance.Parent {
			first = object{"action": "c2pa.opened", "parameters": object{"ingredientIds": []string{ingredientID(i)}}}
		}
	}
	if claim.Prompt != "" {
		parameters, _ := first["parameters"].(object)
		if parameters == nil {
			parameters = object{}
		}
		parameters["com.content-automation.prompt_version"] = claim.Prompt
		first["parameters"] = parameters
	}
	all = append(all, first)
	if first["action"] == "c2pa.opened" && claim.Source != "" {
		edited := object{"action": "c2pa.edited", "digitalSourceType": claim.Source.URI()}
		if len(claim.Models) > 0 {
			edited["softwareAgent"] = agent(claim.Models[0])
		}
		all = append(all, edited)
	} else if len(claim.Models) == 1 {
		first["softwareAgent"] = agent(claim.Models[0])
	}
	for i, in := range claim.Ingredients {
		if in.Relation != provenance.Component {
			continue
		}
		placed := object{"action": "c2pa.placed", "parameters": object{"ingredientIds": []string{ingredientID(i)}}}
		if in.Model != nil {
			placed["softwareAgent"] = agent(*in.Model)
			placed["digitalSourceType"] = provenance.Generated.URI()
		}
		all = append(all, placed)
	}
	return all
}

// agent returns the model as the software that has acted.
func agent(m provenance.Model) object {
	return object{"name": m.Name, "com.content-automation.model": m.ID, "com.content-automation.provider": m.Maker}
}
