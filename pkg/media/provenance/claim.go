package provenance

import (
	"context"
	"errors"
	"io"
)

// Model is a generative model, as manifests name it.
type Model struct {
	// Name is that for people, and ID that of the catalog.
	Name, ID string
	// Maker is the provider that runs it.
	Maker string
}

// Relation is the relation of an ingredient to the file.
type Relation string

// The relations of ingredients that the service writes (C2PA 2.4).
const (
	Parent    Relation = "parentOf"    // the file is a changed version of it
	Component Relation = "componentOf" // the file has it as one of its parts
)

// Ingredient is a file that another is made of.
type Ingredient struct {
	Title    string
	MIMEType string
	Relation Relation
	// Model has made it, or is nil for a file of the caller.
	Model *Model
	File  io.ReadSeeker
}

// Claim is what a manifest says of a file.
type Claim struct {
	Title  string
	Source Source
	// Models are those that have made parts of it, texts included.
	Models []Model
	// Prompt is the version of the prompt of the texts. It may be empty.
	Prompt      string
	Ingredients []Ingredient
}

// Signature is the state of a file's signature.
type Signature string

// The states of the signatures of files.
const (
	None      Signature = "none"      // the file has no manifest of its own
	Valid     Signature = "valid"     // the signature holds, and its certificate is trusted
	Untrusted Signature = "untrusted" // the signature holds, of a certificate that nobody vouches for
	Invalid   Signature = "invalid"   // the file or its manifest was changed, or the manifest is broken
)

// Report is what a file's manifest says.
type Report struct {
	Signature Signature `json:"signature"`
	// Signer is the name in the certificate, Generator the software that has made the manifest, and Signed the kind of
	// origin that the manifest states.
	Signer    string `json:"signer,omitempty"`
	Generator string `json:"generator,omitempty"`
	Signed    Source `json:"signed_source,omitempty"`
	// Facts are what the file's own manifest says, and what those of its ingredients say.
	Facts []Fact `json:"facts,omitempty"`
	// Problems are the codes of what is wrong (C2PA 2.4, status codes).
	Problems []string `json:"problems,omitempty"`
}

// Fact is one thing that a manifest says.
type Fact struct {
	// Kind says what the name is of: action, model or ingredient.
	Kind string `json:"kind"`
	// Name is that of the action, of the model or of the ingredient.
	Name string `json:"name"`
	// By is the software that has acted, and As the relation of an ingredient.
	By string `json:"by,omitempty"`
	As string `json:"as,omitempty"`
	// Source is the kind of origin that an action states.
	Source Source `json:"source,omitempty"`
}

// Reader reads the manifests of files, and trusts some issuers.
type Reader interface {
	// Read reads the manifest of a file, and checks its signature.
	Read(ctx context.Context, mimeType string, file io.ReadSeeker) (Report, error)
}

// Signer signs files in the name of the operator.
type Signer interface {
	// Sign writes a signed copy of a file, and returns the name in the certificate: for test, a test certificate. The
	// name is empty if there is no certificate, and nothing is written then.
	Sign(ctx context.Context, test bool, claim Claim, mimeType string, from io.ReadSeeker, to io.ReadWriteSeeker) (
		signer string, err error)
}

// Inspection is what was found out about the origin of a file that came in.
type Inspection struct {
	Statement
	Report
	// SHA256 is the hash of the file as it came, and Likeness that of the picture, or empty.
	SHA256   string `json:"sha256"`
	Likeness string `json:"likeness,omitempty"`
}

// Unchecked is the problem of a manifest that nothing was there to check.
const Unchecked = "unchecked"

// Inspect finds out what a file says of its origin. Without a reader, manifests are not checked.
func Inspect(ctx context.Context, r Reader, mimeType string, file io.ReaderAt, size int64) (i Inspection, err error) {
	i.Signature = None
	found, err := Read(ctx, file, size)
	if errors.Is(err, ErrUnsupported) {
		return i, nil
	}
	if err != nil {
		return i, err
	}
	i.Statement = found.Statement
	switch {
	case !found.Manifest:
	case r == nil:
		i.Report = Report{Signature: Untrusted, Problems: []string{Unchecked}}
	default:
		i.Report, err = r.Read(ctx, mimeType, io.NewSectionReader(file, 0, size))
	}
	return i, err
}
