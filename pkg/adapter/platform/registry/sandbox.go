package registry

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// page is the address of the simulated posts.
const page = "https://sandbox.invalid/"

// SandboxPlatform is the sandbox of one platform.
type SandboxPlatform struct {
	name string
	caps platform.Capabilities
	now  func() time.Time
}

var _ platform.Adapter = (*SandboxPlatform)(nil)

// NewSandbox returns the sandbox of a platform with that platform's capabilities.
func NewSandbox(name string, caps platform.Capabilities, now func() time.Time) *SandboxPlatform {
	return &SandboxPlatform{name, caps, now}
}

// Name implements platform.Adapter.
func (p *SandboxPlatform) Name() string { return p.name }

// Capabilities implements platform.Adapter.
func (p *SandboxPlatform) Capabilities() platform.Capabilities { return p.caps }

// Authorization implements platform.Connector. It returns the address of the callback itself, with a code.
func (p *SandboxPlatform) Authorization(ctx context.Context, a platform.Authorization) (string, error) {
	if err := ended(ctx); err != nil {
		return "", err
	}
	if p.caps.Connect != platform.ConnectOAuth {
		return "", platform.Unsupported("OAuth")
	}
	divider := "?"
	if strings.Contains(a.RedirectURL, "?") {
		divider = "&"
	}
	return a.RedirectURL + divider + "code=sandbox-" + platform.Challenge(a.Verifier) + "&state=" + a.State, nil
}

// Connect implements platform.Connector. It refuses only an empty grant and the code of a different verifier.
func (p *SandboxPlatform) Connect(ctx context.Context, g platform.Grant) ([]platform.Account, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	given := g.Code + g.Token.Reveal() + g.Username
	if given == "" || p.caps.Connect == platform.ConnectOAuth && g.Token == "" &&
		g.Code != "sandbox-"+platform.Challenge(g.Verifier) {
		return nil, platform.Disconnected()
	}
	prefix := "sandbox-" + p.name + "-"
	id := prefix + seed(given+g.Choice)
	if strings.HasPrefix(g.Choice, prefix) {
		id = g.Choice // an account of an earlier grant
	}
	handle := strings.TrimPrefix(g.Choice, "@")
	if handle == "" {
		handle = id
	}
	return []platform.Account{{ID: id, Handle: handle, Name: "Sandbox of " + p.name,
		Token: platform.Token{Access: platform.Secret("sandbox-token"), Scopes: p.caps.Scopes}}}, nil
}

// Refresh implements platform.Connector.
func (p *SandboxPlatform) Refresh(ctx context.Context, a platform.Account) (platform.Token, error) {
	return a.Token, ended(ctx)
}

// Revoke implements platform.Connector.
func (p *SandboxPlatform) Revoke(ctx context.Context, _ platform.Account) error { return ended(ctx) }

// work is the content of a handle.
type work struct {
	Ready int64 `json:"ready"` // Unix milliseconds
}

// resume reads a handle for the next step, unless the time for it is over.
func resume(ctx context.Context, h platform.Handle) (w work, err error) {
	if err := h.Decode(&w); err != nil {
		return w, err
	}
	if w.Ready <= 0 {
		return w, platform.Reject(platform.CodeInvalidHandle, "The publication is not known.")
	}
	return w, ended(ctx)
}

// Start implements platform.Publisher.
func (p *SandboxPlatform) Start(ctx context.Context, _ platform.Account, post platform.Post) (platform.Step, error) {
	if err := ended(ctx); err != nil {
		return platform.Step{}, err
	}
	if problems := platform.Fit(p.name, post, p.caps); len(problems) > 0 {
		return platform.Step{}, platform.Reject(platform.CodeContentRefused, problems[0].Message)
	}
	return platform.Go(platform.StageCheck, work{p.now().Add(post.Rehearsal.Delay).UnixMilli()}, post.Rehearsal.Delay)
}

// Check implements platform.Publisher.
func (p *SandboxPlatform) Check(ctx context.Context, _ platform.Account, post platform.Post,
	h platform.Handle) (platform.Step, error) {
	w, err := resume(ctx, h)
	if err != nil {
		return platform.Step{}, err
	}
	if wait := time.UnixMilli(w.Ready).Sub(p.now()); wait > 0 {
		return platform.Go(platform.StageCheck, w, wait)
	}
	if failure := post.Rehearsal.Code; failure != "" {
		return platform.Step{}, rehearsed(failure)
	}
	return platform.Go(platform.StageFinalize, w, 0)
}

// said is what the simulated platforms say about a failure.
const said = "This is what a platform says about its refusal."

// rehearsed returns the requested failure, of the kind that has its code.
func rehearsed(code platform.Code) error {
	switch code {
	case platform.CodeOutcomeUnknown:
		return platform.Lost(nil)
	case platform.CodeNeedsReconnect, platform.CodeMissingPermission:
		return platform.NeedsReconnect(code, "The account has to be connected again, as was asked for.").Saying(said)
	default:
		return platform.Reject(code, "The publication failed, as was asked for.").Saying(said)
	}
}

// Finalize implements platform.Publisher.
func (p *SandboxPlatform) Finalize(ctx context.Context, a platform.Account, post platform.Post,
	h platform.Handle) (platform.Step, error) {
	w, err := resume(ctx, h)
	if err != nil {
		return platform.Step{}, err
	}
	sum := sha256.Sum256([]byte(a.ID + "\x00" + post.Key))
	// The time makes metrics grow with the age of the post, and the last byte says how it is received.
	raw := binary.BigEndian.AppendUint64(sum[:9:9], uint64(w.Ready/1000))
	raw = append(raw, byte(math.Round(favor(post.Kind, post.Rehearsal.Hook)*favorUnit)))
	id := base64.RawURLEncoding.EncodeToString(raw)
	return platform.Step{Next: platform.StageDone, Post: platform.Published{ID: id, URL: page + p.name + "/" + id}}, nil
}

// Reconcile implements platform.Publisher. It allows a repeat, which makes the same post.
func (p *SandboxPlatform) Reconcile(ctx context.Context, _ platform.Account, _ platform.Post, h platform.Handle,
	_ time.Time) (platform.Step, error) {
	w, err := resume(ctx, h)
	if err != nil {
		return platform.Step{}, err
	}
	return platform.Go(platform.StageFinalize, w, 0)
}

func seed(s string) string {
	sum := sha256.Sum256([]byte(s))
	return strconv.FormatUint(binary.BigEndian.Uint64(sum[:]), 36)
}

// ended returns the error of a context that has ended.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return platform.Later(platform.CodeCanceled, "The step was canceled.").Because(err)
	}
	return nil
}

var (
	_ platform.Editor  = (*SandboxPlatform)(nil)
	_ platform.Deleter = (*SandboxPlatform)(nil)
)

// Edit implements platform.Editor.
func (p *SandboxPlatform) Edit(ctx context.Context, _ platform.Account, _ platform.Placed, _ string) error {
	if err := ended(ctx); err != nil || p.caps.Edits {
		return err
	}
	return platform.Unsupported("changes of posts")
}

// Delete implements platform.Deleter.
func (p *SandboxPlatform) Delete(ctx context.Context, _ platform.Account, _ platform.Placed) error {
	if err := ended(ctx); err != nil || p.caps.Deletes {
		return err
	}
	return platform.Unsupported("the deletion of posts")
}

var _ platform.Finder = (*SandboxPlatform)(nil)

// Lookup implements platform.Finder. It finds two things, whose ids have the form of the platform's.
func (p *SandboxPlatform) Lookup(ctx context.Context, _ platform.Account, kind platform.LookupKind,
	text string) (all []platform.Found, err error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	prefix := map[platform.LookupKind]string{platform.LookupMember: "urn:li:person:sandbox",
		platform.LookupOrganization: "urn:li:organization:", platform.LookupPlaylist: "PL-sandbox-"}[kind]
	for n := 1; n <= 2; n++ {
		name := strings.TrimSpace(text + " " + string(kind) + " " + strconv.Itoa(n))
		all = append(all, platform.Found{ID: prefix + strconv.Itoa(1000+n), Name: name, Detail: "Sandbox"})
	}
	return all, nil
}

var _ platform.CreatorReader = (*SandboxPlatform)(nil)

// CreatorInfo implements platform.CreatorReader.
func (p *SandboxPlatform) CreatorInfo(ctx context.Context, a platform.Account) (platform.Creator, error) {
	if err := ended(ctx); err != nil {
		return platform.Creator{}, err
	}
	return platform.Creator{Username: a.Handle, Nickname: a.Name, Privacies: p.caps.Privacies, Comments: true,
		Duet: true, Stitch: true, MaxVideoSeconds: 600}, nil
}
