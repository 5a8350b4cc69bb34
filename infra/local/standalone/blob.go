package standalone

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// blobs stores the objects of the buckets, by bucket and key.
type blobs interface {
	// put stores the whole content, or nothing if reading it fails.
	put(name string, from io.Reader) error
	// open returns an object, or an error that is fs.ErrNotExist.
	open(name string) (io.ReadSeekCloser, time.Time, error)
	remove(name string) error
	// list returns the names with a prefix, in order.
	list(prefix string) ([]string, error)
}

// folder stores objects as files. The name of each file is the escaped name of its object.
type folder string

// partPrefix is the prefix of the files that are not whole yet. No object has it: names begin with a bucket.
const partPrefix = ".part-"

// openFolder makes a folder for objects, if it is not there. Otherwise it removes the files that the end of an earlier
// process has left unfinished.
func openFolder(dir string) (folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	parts, err := filepath.Glob(filepath.Join(dir, partPrefix+"*"))
	for _, part := range parts {
		err = errors.Join(err, os.Remove(part))
	}
	return folder(dir), err
}

func (f folder) path(name string) string { return filepath.Join(string(f), url.PathEscape(name)) }

func (f folder) put(name string, from io.Reader) error {
	part, err := os.CreateTemp(string(f), partPrefix+"*")
	if err != nil {
		return err
	}
	_, err = io.Copy(part, from)
	if err = errors.Join(err, part.Close()); err == nil {
		err = os.Rename(part.Name(), f.path(name))
	}
	if err != nil {
		_ = os.Remove(part.Name())
	}
	return err
}

func (f folder) open(name string) (io.ReadSeekCloser, time.Time, error) {
	file, err := os.Open(f.path(name))
	if err != nil {
		return nil, time.Time{}, err
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return nil, time.Time{}, err
	}
	return file, info.ModTime(), nil
}

func (f folder) remove(name string) error {
	if err := os.Remove(f.path(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (f folder) list(prefix string) (names []string, err error) {
	files, err := os.ReadDir(string(f))
	for _, file := range files {
		name, unescaped := url.PathUnescape(file.Name())
		if unescaped == nil && strings.HasPrefix(name, prefix) && !strings.HasPrefix(file.Name(), partPrefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, err
}

// memory stores objects in memory.
type memory struct {
	now func() time.Time // may be nil
	mu  sync.Mutex
	all map[string]content
}

type content struct {
	data []byte
	at   time.Time
}

func (m *memory) put(name string, from io.Reader) error {
	data, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	at := time.Now()
	if m.now != nil {
		at = m.now()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all[name] = content{data, at}
	return nil
}

func (m *memory) open(name string) (io.ReadSeekCloser, time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.all[name]
	if !ok {
		return nil, time.Time{}, fs.ErrNotExist
	}
	return struct {
		io.ReadSeeker
		io.Closer
	}{bytes.NewReader(s.data), io.NopCloser(nil)}, s.at, nil
}

func (m *memory) remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, name)
	return nil
}

func (m *memory) list(prefix string) (names []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.all {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}
