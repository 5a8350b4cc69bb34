// Package c2pa signs media files with Content Credentials, and reads those of others: the manifests of the C2PA
// (https://spec.c2pa.org/specifications/specifications/2.4/specs/C2PA_Specification.html). It calls the library of the
// C2PA's open-source project, c2pa-rs, without cgo. Only the program compose and the local service link it: their
// executables need the C library of the system. Credentials.Sign writes a manifest, and Library.Read reads one.
package c2pa

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/content-automation/api/pkg/cloud/seal"
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
