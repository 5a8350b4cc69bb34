package sandbox

import (
	"slices"
	"sync"
)

// The bounds of the files that are kept.
const (
	keptFiles = 32
	keptBytes = 16 << 20
)

// files keeps the files that were made last. A fetch is repeated if its answer or the process is lost, and callers who
// try the service repeat their prompts: drawing takes most of the time of a sandbox item.
type files struct {
	mu     sync.Mutex
	byName map[string][]byte
	names  []string // in the order of their use, the last one at the end
	bytes  int
}

// recent has the files of the process.
var recent files

// get returns the file of a name, which make makes if it is not kept.
func (f *files) get(name string, make func() ([]byte, error)) ([]byte, error) {
	if file, ok := f.kept(name); ok {
		return file, nil
	}
	file, err := make() // two callers may make the same file at the same time
	if err != nil {
		return nil, err
	}
	f.keep(name, file)
	return file, nil
}

func (f *files) kept(name string) ([]byte, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	file, ok := f.byName[name]
	if ok {
		i := slices.Index(f.names, name)
		f.names = append(slices.Delete(f.names, i, i+1), name)
	}
	return file, ok
}

// keep keeps a file, and forgets those that were used least recently and exceed the bounds.
func (f *files) keep(name string, file []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.byName[name]; ok || len(file) > keptBytes {
		return
	}
	if f.byName == nil {
		f.byName = map[string][]byte{}
	}
	f.byName[name], f.names, f.bytes = file, append(f.names, name), f.bytes+len(file)
	for f.bytes > keptBytes || len(f.names) > keptFiles {
		f.bytes -= len(f.byName[f.names[0]])
		delete(f.byName, f.names[0])
		f.names = f.names[1:]
	}
}
