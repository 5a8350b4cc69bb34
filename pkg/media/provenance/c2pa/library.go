// Package c2pa signs media files with Content Credentials, and reads those of others: the manifests of the C2PA
// (https://spec.c2pa.org/specifications/specifications/2.4/specs/C2PA_Specification.html). It calls the library of the
// C2PA's open-source project, c2pa-rs, without cgo. Only the program compose and the local service link it: their
// executables need the C library of the system. Credentials.Sign writes a manifest, and Library.Read reads one.
package c2pa

import (
	"cmp"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/content-automation/api/pkg/base/budget"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/media/provenance"
)

// handle is an object of the library.
type handle uintptr

// Library is the loaded library. It may be used by many goroutines.
type Library struct {
	version func() unsafe.Pointer
	// failure returns the error of the last call of the thread.
	failure    func() unsafe.Pointer
	freeString func(unsafe.Pointer)
	free       func(handle) int32

	newStream     func(id uintptr, read, seek, write, flush uintptr) handle
	releaseStream func(handle)

	newSettings     func() handle
	updateSettings  func(settings handle, text, format string) int32
	newContext      func() handle
	setSettings     func(context, settings handle) int32
	buildContext    func(context handle) handle
	newBuilder      func(context handle) handle
	define          func(builder handle, manifest string) handle
	addIngredient   func(builder handle, ingredient, format string, file handle) int32
	newSigner       func(id, sign uintptr, algorithm int32, chain string, authority uintptr) handle
	sign            func(builder handle, format string, from, to, signer handle, manifest *unsafe.Pointer) int64
	freeManifest    func(unsafe.Pointer)
	newReader       func(context handle) handle
	readFrom        func(reader handle, format string, file handle) handle
	describe        func(reader handle) unsafe.Pointer
	describeClosely func(reader handle) unsafe.Pointer
}

// Open loads the library from a file.
func Open(path string) (*Library, error) {
	loaded, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("c2pa: load: %w", err)
	}
	l := &Library{}
	for name, f := range map[string]any{
		"c2pa_version": &l.version, "c2pa_error": &l.failure, "c2pa_string_free": &l.freeString, "c2pa_free": &l.free,
		"c2pa_create_stream": &l.newStream, "c2pa_release_stream": &l.releaseStream,
		"c2pa_settings_new": &l.newSettings, "c2pa_settings_update_from_string": &l.updateSettings,
		"c2pa_context_builder_new": &l.newContext, "c2pa_context_builder_set_settings": &l.setSettings,
		"c2pa_context_builder_build": &l.buildContext, "c2pa_builder_from_context": &l.newBuilder,
		"c2pa_builder_with_definition": &l.define, "c2pa_builder_add_ingredient_from_stream": &l.addIngredient,
		"c2pa_signer_create": &l.newSigner, "c2pa_builder_sign": &l.sign, "c2pa_manifest_bytes_free": &l.freeManifest,
		"c2pa_reader_from_context": &l.newReader, "c2pa_reader_with_stream": &l.readFrom,
		"c2pa_reader_json": &l.describe, "c2pa_reader_detailed_json": &l.describeClosely,
	} {
		symbol, err := purego.Dlsym(loaded, name)
		if err != nil {
			return nil, fmt.Errorf("c2pa: %s has no function %s: %w", path, name, err)
		}
		purego.RegisterFunc(f, symbol)
	}
	callbacks.Do(register)
	return l, nil
}

// Version returns the name and version of the library.
func (l *Library) Version() string { return l.text(l.version()) }

// text returns a text of the library, and frees it.
func (l *Library) text(p unsafe.Pointer) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	s := string(unsafe.Slice((*byte)(p), n))
	l.freeString(p)
	return s
}

// stream is a file that the library reads or writes, and call what it does so for.
type stream struct {
	*call
	file io.ReadSeeker
}

// call is one call of the library. A callback cannot return an error: the call keeps it.
type call struct {
	*Library
	ctx     context.Context
	key     Key
	handles []func()
	ids     []uintptr
	err     error
}

// The callbacks find what they are for, a *stream or a *call, by a number. Callbacks are never freed, so that each is
// made once.
var (
	callbacks                              sync.Once
	readBack, seekBack, writeBack, endBack uintptr
	signBack                               uintptr
	known                                  sync.Map
	last                                   atomic.Uintptr
)

// failed is what a callback returns in place of a number of bytes.
const failed = -1

func register() {
	readBack = purego.NewCallback(func(id uintptr, p unsafe.Pointer, n int) int {
		return with(id, func(s *stream) (int64, error) {
			m, err := s.file.Read(unsafe.Slice((*byte)(p), n))
			if m > 0 || err == io.EOF {
				err = nil
			}
			return int64(m), err
		})
	})
	seekBack = purego.NewCallback(func(id uintptr, offset int, whence int32) int {
		return with(id, func(s *stream) (int64, error) { return s.file.Seek(int64(offset), int(whence)) })
	})
	writeBack = purego.NewCallback(func(id uintptr, p unsafe.Pointer, n int) int {
		return with(id, func(s *stream) (int64, error) {
			w, ok := s.file.(io.Writer)
			if !ok {
				return 0, errors.New("c2pa: the file is read only")
			}
			m, err := w.Write(unsafe.Slice((*byte)(p), n))
			return int64(m), err
		})
	})
	endBack = purego.NewCallback(func(uintptr) int { return 0 })
	signBack = purego.NewCallback(func(id uintptr, p unsafe.Pointer, n int, signature unsafe.Pointer, room int) int {
		found, _ := known.Load(id)
		c, ok := found.(*call)
		if !ok {
			return failed
		}
		signed, err := c.signature(unsafe.Slice((*byte)(p), n))
		if err == nil && len(signed) > room {
			err = fmt.Errorf("c2pa: a signature of %d bytes", len(signed))
		}
		if err != nil {
			c.err = errors.Join(c.err, err)
			return failed
		}
		return copy(unsafe.Slice((*byte)(signature), room), signed)
	})
}

// with calls f with the stream of a callback, unless its context has ended.
func with(id uintptr, f func(*stream) (int64, error)) int {
	found, _ := known.Load(id)
	s, ok := found.(*stream)
	if !ok {
		return failed
	}
	err := s.ctx.Err()
	if err == nil {
		var n int64
		if n, err = f(s); err == nil {
			return int(n)
		}
	}
	s.err = errors.Join(s.err, err)
	return failed
}

// begin begins a call. Its end frees all that it has made. The library keeps errors by thread, so that the goroutine
// stays on its own.
func (l *Library) begin(ctx context.Context, key Key) *call {
	runtime.LockOSThread()
	return &call{Library: l, ctx: ctx, key: key}
}

func (c *call) end() {
	for i := len(c.handles) - 1; i >= 0; i-- {
		c.handles[i]()
	}
	for _, id := range c.ids {
		known.Delete(id)
	}
	runtime.UnlockOSThread()
}

// signature returns the ES256 signature of data.
func (c *call) signature(data []byte) ([]byte, error) {
	der, err := c.key.Sign(c.ctx, sha256.Sum256(data))
	if err != nil {
		return nil, err
	}
	return seal.RawSignature(der)
}

// frees frees an object at the end of the call.
func (c *call) frees(h handle) handle {
	c.handles = append(c.handles, func() { c.free(h) })
	return h
}

// fail returns the error of the last call, or of the callbacks that it has made.
func (c *call) fail(what string) error {
	text := c.text(c.failure())
	switch {
	case c.ctx.Err() != nil:
		return c.ctx.Err()
	case c.err != nil:
		return fmt.Errorf("c2pa: %s: %w", what, c.err)
	default:
		return &Error{What: what, Text: text}
	}
}

// Error is an error of the library: about the files that it was given, for example.
type Error struct {
	What string
	// Text begins with the kind of the error.
	Text string
}

// Error returns what the library says, for the log.
func (e *Error) Error() string { return "c2pa: " + e.What + ": " + e.Text }

func (c *call) number(of any) uintptr {
	id := last.Add(1)
	known.Store(id, of)
	c.ids = append(c.ids, id)
	return id
}

func (c *call) open(file io.ReadSeeker) (handle, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return 0, fmt.Errorf("c2pa: %w", err)
	}
	h := c.newStream(c.number(&stream{c, file}), readBack, seekBack, writeBack, endBack)
	if h == 0 {
		return 0, c.fail("open a stream")
	}
	c.handles = append(c.handles, func() { c.releaseStream(h) })
	return h, nil
}

// context returns a context of the library with settings.
func (c *call) context(settings string) (handle, error) {
	s := c.frees(c.newSettings())
	if c.updateSettings(s, settings, "json") != 0 {
		return 0, c.fail("read the settings")
	}
	b := c.newContext()
	if c.setSettings(b, s) != 0 {
		return 0, c.fail("set the settings")
	}
	h := c.buildContext(b)
	if h == 0 {
		return 0, c.fail("make a context")
	}
	return c.frees(h), nil
}

// Credentials sign the files of the service, and read the manifests of any file.
type Credentials struct {
	Library *Library
	// Test signs the files of test keys.
	Test Signer
	// Live returns the signer of all other files. Without a chain, the stack has no certificate.
	Live func(ctx context.Context) (Signer, error)
}

// OpenCredentials loads the library from a file. Live may be nil: the test certificate signs all files then.
func OpenCredentials(path string, test Signer, live func(ctx context.Context) (Signer, error)) (*Credentials, error) {
	l, err := Open(path)
	if live == nil {
		live = func(context.Context) (Signer, error) { return test, nil }
	}
	return &Credentials{l, test, live}, err
}

// Sign writes a signed copy of a file, and returns the name in the certificate: for test, the test certificate. The
// name is empty if there is no certificate, and nothing is written then.
func (c *Credentials) Sign(ctx context.Context, test bool, claim provenance.Claim, mimeType string, from io.ReadSeeker,
	to io.ReadWriteSeeker) (string, error) {
	s := c.Test
	if !test {
		var err error
		if s, err = c.Live(ctx); err != nil || len(s.Chain) == 0 {
			return "", err
		}
	}
	name, err := nameIn(s.Chain)
	if err != nil {
		return "", err
	}
	return name, c.Library.Sign(ctx, s, claim, mimeType, from, to)
}

// Read reads the manifest of a file. Certificates of the service's own issuers are trusted.
func (c *Credentials) Read(ctx context.Context, mimeType string, file io.ReadSeeker) (provenance.Report, error) {
	live, err := c.Live(ctx)
	if err != nil {
		return provenance.Report{}, err
	}
	return c.Library.Read(ctx, mimeType, file, slices.Concat(Anchor(c.Test.Chain), Anchor(live.Chain)))
}

// nameIn returns the name of the first certificate of a chain.
func nameIn(chain []byte) (string, error) {
	block, _ := pem.Decode(chain)
	if block == nil {
		return "", fmt.Errorf("c2pa: the chain has no certificate")
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return "", fmt.Errorf("c2pa: %w", err)
	}
	return cert.Subject.CommonName, nil
}

// TestName is the name in test certificates. They sign the files of sandboxes and of the local service.
const TestName = "TEST CERTIFICATE, not for publication"

// testLife is how long a test certificate holds.
const testLife = 10 * 365 * 24 * time.Hour

// localKey is a key in the memory.
type localKey struct{ *ecdsa.PrivateKey }

// Sign implements Key by the private key, which is in the memory of this process.
func (k localKey) Sign(_ context.Context, digest [sha256.Size]byte) ([]byte, error) {
	return k.PrivateKey.Sign(rand.Reader, digest[:], crypto.SHA256)
}

// NewTest makes a key with a test certificate, of an issuer of its own.
func NewTest(now time.Time) (Signer, error) {
	issuer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Signer{}, fmt.Errorf("c2pa: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Signer{}, fmt.Errorf("c2pa: %w", err)
	}
	template := func(serial int64, name string) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: big.NewInt(serial), NotBefore: now.Add(-24 * time.Hour), NotAfter: now.Add(testLife),
			Subject:               pkix.Name{CommonName: name, Organization: []string{TestName}},
			BasicConstraintsValid: true,
		}
	}
	root, leaf := template(1, TestName+" (issuer)"), template(2, TestName)
	root.IsCA, root.KeyUsage = true, x509.KeyUsageCertSign
	leaf.KeyUsage, leaf.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageEmailProtection}
	issued, err := x509.CreateCertificate(rand.Reader, root, root, &issuer.PublicKey, issuer)
	if err == nil {
		root, err = x509.ParseCertificate(issued) // with the identifier of its key, which the other names
	}
	if err != nil {
		return Signer{}, fmt.Errorf("c2pa: %w", err)
	}
	own, err := x509.CreateCertificate(rand.Reader, leaf, root, &key.PublicKey, issuer)
	if err != nil {
		return Signer{}, fmt.Errorf("c2pa: %w", err)
	}
	var chain []byte
	for _, der := range [][]byte{own, issued} {
		chain = append(chain, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	return Signer{localKey{key}, chain}, nil
}

// Kept returns the signer that a file has, or a new one with a test certificate, which it writes into the file.
func Kept(path string, now time.Time) (Signer, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		s, err := NewTest(now)
		if err != nil {
			return s, err
		}
		der, err := x509.MarshalPKCS8PrivateKey(s.Key.(localKey).PrivateKey)
		if err != nil {
			return s, fmt.Errorf("c2pa: %w", err)
		}
		key := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
		return s, os.WriteFile(path, slices.Concat(key, s.Chain), 0o600)
	}
	if err != nil {
		return Signer{}, fmt.Errorf("c2pa: %w", err)
	}
	block, chain := pem.Decode(content)
	if block == nil {
		return Signer{}, fmt.Errorf("c2pa: %s has no key", path)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if own, ok := key.(*ecdsa.PrivateKey); ok {
		return Signer{localKey{own}, chain}, nil
	}
	return Signer{}, fmt.Errorf("c2pa: %s has no key of P-256: %w", path, err)
}

// Anchor returns the last certificate of a chain, in PEM: the one that is trusted to issue the others.
func Anchor(chain []byte) (anchor []byte) {
	for block, rest := pem.Decode(chain); block != nil; block, rest = pem.Decode(rest) {
		anchor = pem.EncodeToMemory(block)
	}
	return anchor
}

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
	return ReportOf(ctx, []byte(c.text(c.describe(r))))
}

// ReportOf returns what the library says of a file, as a report.
func ReportOf(ctx context.Context, said []byte) (provenance.Report, error) {
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
