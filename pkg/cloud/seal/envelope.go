package seal

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
)

// DataKeys is a key service that makes the keys of envelopes. Only it can open a wrapped key. Its errors are transient,
// except those that wrap ErrOpen.
type DataKeys interface {
	// Generate returns a new key for data of an account, in clear and wrapped.
	Generate(ctx context.Context, account string) (key, wrapped []byte, err error)
	// Unwrap returns a wrapped key in clear. Its error wraps ErrOpen if the key is damaged, or belongs to another
	// account.
	Unwrap(ctx context.Context, account string, wrapped []byte) ([]byte, error)
}

// The purposes of data keys.
const (
	// ForTokens seals the tokens of social accounts and integrations.
	ForTokens = "social-tokens"
	// ForSigning seals the signing keys of webhooks.
	ForSigning = "webhook-signing-keys"
)

const (
	// keyLifetime is the time for which a data key stays in memory, and so the longest time for which it is used after
	// the key service has refused it.
	keyLifetime = 5 * time.Minute
	// mostKeys bounds the data keys in memory.
	mostKeys = 1000
)

// envelopeVersion is the first byte of an envelope. It is followed by the length of the wrapped key, in two bytes, the
// wrapped key and the sealed data.
const envelopeVersion = 1

// Envelope seals and opens data with data keys of its account. The wrapped key is stored
// with the data. It is safe for concurrent use.
type Envelope struct {
	keys DataKeys
	now  func() time.Time

	mu     sync.Mutex
	cached map[string]dataKey
}

type dataKey struct {
	box     *Box
	wrapped []byte
	until   time.Time
}

// NewEnvelope returns an envelope with the keys of a key service.
func NewEnvelope(keys DataKeys, now func() time.Time) *Envelope {
	return &Envelope{keys: keys, now: now, cached: map[string]dataKey{}}
}

// Seal encrypts data of an account for a context. Open needs the same account and context.
func (e *Envelope) Seal(ctx context.Context, account string, data []byte, context string) ([]byte, error) {
	k, err := e.key("seal#"+account, func() (key, wrapped []byte, err error) { return e.keys.Generate(ctx, account) })
	if err != nil {
		return nil, err
	}
	sealed := binary.BigEndian.AppendUint16([]byte{envelopeVersion}, uint16(len(k.wrapped)))
	sealed = append(sealed, k.wrapped...)
	return append(sealed, k.box.Seal(data, context)...), nil
}

// Open decrypts sealed data. It returns ErrOpen unless it was sealed for the same account and context.
func (e *Envelope) Open(ctx context.Context, account string, sealed []byte, context string) ([]byte, error) {
	if len(sealed) < 3 || sealed[0] != envelopeVersion {
		return nil, ErrOpen
	}
	wrapped, data := sealed[3:], []byte(nil)
	if n := int(binary.BigEndian.Uint16(sealed[1:])); n <= len(wrapped) {
		wrapped, data = wrapped[:n], wrapped[n:]
	}
	k, err := e.key("open#"+account+"#"+string(wrapped), func() ([]byte, []byte, error) {
		key, err := e.keys.Unwrap(ctx, account, wrapped)
		return key, wrapped, err
	})
	if err != nil {
		return nil, err
	}
	return k.box.Open(data, context)
}

// key returns the cached data key of a name, or a new one.
func (e *Envelope) key(name string, fresh func() (key, wrapped []byte, err error)) (dataKey, error) {
	if k, ok := e.get(name); ok {
		return k, nil
	}
	key, wrapped, err := fresh()
	if errors.Is(err, ErrOpen) {
		return dataKey{}, err
	}
	if err != nil {
		return dataKey{}, errs.Wrap(fmt.Errorf("seal: data key: %w", err), errs.ProviderUnavailable,
			"Secrets cannot be stored or read at the moment. Try again after a few seconds.")
	}
	box, err := New(key)
	if err != nil {
		return dataKey{}, err
	}
	k := dataKey{box, wrapped, e.now().Add(keyLifetime)}
	e.put(name, k)
	return k, nil
}

func (e *Envelope) get(name string) (dataKey, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	k, ok := e.cached[name]
	return k, ok && e.now().Before(k.until)
}

// Forget forgets the data keys that it keeps, as the end of a process does.
func (e *Envelope) Forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.cached)
}

func (e *Envelope) put(name string, k dataKey) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.cached) >= mostKeys {
		now := e.now()
		maps.DeleteFunc(e.cached, func(_ string, k dataKey) bool { return !now.Before(k.until) })
	}
	if len(e.cached) >= mostKeys {
		clear(e.cached)
	}
	e.cached[name] = k
}
