package fleet

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/infra/app/orchestrator"
)

// memory is the buckets of all regions.
type memory struct {
	mu   sync.Mutex
	all  map[string][]byte
	puts int
	err  error
}

func (m *memory) Has(_ context.Context, bucket, key string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.all[bucket+"/"+key]
	return ok, m.err
}

func (m *memory) Put(_ context.Context, bucket, key string, content []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.puts++
	m.all[bucket+"/"+key] = content
	return nil
}

// synthesised writes what the CDK makes of a cell: each stack has a template of its own, and the code of all.
func synthesised(t *testing.T, dir string, of customer.Settings) {
	t.Helper()
	write := func(name, content string) {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err = errors.Join(err, os.WriteFile(path, []byte(content), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	write("asset.code/bootstrap", "the program")
	for _, part := range customer.Parts {
		name := of.StackName(part)
		write(name+".template.json", name)
		write(name+".assets.json", fmt.Sprintf(`{"files": {
			"code": {"source": {"path": "asset.code", "packaging": "zip"},
				"destinations": {"d": {"bucketName": "releases-%[2]s", "objectKey": "code.zip"}}},
			"t": {"source": {"path": "%[1]s.template.json", "packaging": "file"},
				"destinations": {"d": {"bucketName": "releases-%[2]s", "objectKey": "%[1]s.json"}}}}}`, name, of.Region))
	}
}

func located(name, region string) customer.Settings {
	s := customer.Settings{Customer: name, Stage: "prod", Region: region, Home: region, Account: "111122223333"}
	s.DeployRole = "arn:aws:iam::111122223333:role/deploy"
	return s
}

// The code of many cells is stored once a region, and not again by the next run.
func TestAssetsAreStoredOnceARegion(t *testing.T) {
	store := &memory{all: map[string][]byte{}}
	cells := []customer.Settings{located("acme", "eu-central-1"), located("globex", "eu-central-1"),
		located("hooli", "us-east-1")}
	dirs := map[string]string{}
	for _, of := range cells {
		dirs[of.Name()] = t.TempDir()
		synthesised(t, dirs[of.Name()], of)
	}
	parts := len(customer.Parts)
	for run := range 2 {
		p := &Publisher{Store: store, Exists: func(_ context.Context, of customer.Settings, _ string) (bool, error) {
			return of.Customer == "acme", nil
		}}
		var all sync.WaitGroup
		for _, of := range cells {
			all.Go(func() {
				c, err := p.Publish(t.Context(), of, "v1", dirs[of.Name()])
				want := map[bool]string{true: "UPDATE", false: "CREATE"}[of.Customer == "acme"]
				if err != nil || len(c.Stacks) != parts || c.Stacks[0].Type != want || !c.Stacks[0].First ||
					c.Stacks[1].First ||
					c.Stacks[0].Template != "https://releases-"+of.Region+".s3."+of.Region+".amazonaws.com/"+of.Name()+"-data.json" {
					t.Errorf("%+v, %v", c, err)
				}
			})
		}
		all.Wait()
		if want := 2 + len(cells)*parts; store.puts != want {
			t.Errorf("after run %d: %d objects were stored, want %d", run+1, store.puts, want)
		}
	}
	archive := store.all["releases-us-east-1/code.zip"]
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil || len(z.File) != 1 || z.File[0].Name != "bootstrap" || z.File[0].Mode().Perm() != 0o755 {
		t.Errorf("the code is %+v, %v", z, err)
	}
}

func TestWhatIsNotPublished(t *testing.T) {
	of := located("acme", "eu-central-1")
	dir := t.TempDir()
	synthesised(t, dir, of)
	none := func(context.Context, customer.Settings, string) (bool, error) { return false, nil }
	alone := of
	alone.DeployRole = ""
	for says, p := range map[string]struct {
		of     customer.Settings
		dir    string
		store  *memory
		exists func(context.Context, customer.Settings, string) (bool, error)
	}{
		"has no deployRole": {alone, dir, &memory{all: map[string][]byte{}}, none},
		"no such file":      {of, t.TempDir(), &memory{all: map[string][]byte{}}, none},
		"no bucket":         {of, dir, &memory{err: errors.New("no bucket")}, none},
		"no stacks": {of, dir, &memory{all: map[string][]byte{}}, func(context.Context, customer.Settings, string) (bool,
			error) {
			return false, errors.New("no stacks")
		}},
	} {
		publisher := &Publisher{Store: p.store, Exists: p.exists}
		for range 2 {
			_, err := publisher.Publish(t.Context(), p.of, "v1", p.dir)
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v", says, err)
			}
		}
	}
}

func TestTheListOfAWave(t *testing.T) {
	store := &memory{all: map[string][]byte{}}
	p := &Publisher{Store: store}
	in, err := p.List(t.Context(), "releases", "v1", "most", []orchestrator.Cell{{Cell: "globex"}, {Cell: "acme"}})
	var list []orchestrator.Cell
	if err == nil {
		err = json.Unmarshal(store.all["releases/waves/v1/most.json"], &list)
	}
	if err != nil || in.Key != "waves/v1/most.json" || len(list) != 2 || list[0].Cell != "acme" {
		t.Errorf("%+v, %+v, %v", in, list, err)
	}
}

// waves is an orchestrator that deploys at once.
type waves struct {
	cloud  *accounts
	orders []string
	err    error
}

func (w *waves) Await(context.Context, customer.Wave) error { return nil }

func (w *waves) Deploy(_ context.Context, wave string, cells []customer.Settings, version string) error {
	var names []string
	for _, c := range cells {
		names = append(names, c.Customer)
		if w.err == nil {
			w.cloud.set(c.Customer, State{Version: version, Whole: true})
		}
	}
	w.orders = append(w.orders, wave+": "+strings.Join(names, " "))
	return w.err
}

func TestTheOrchestratorGetsWhatDoesNotRunTheVersion(t *testing.T) {
	for name, c := range map[string]struct {
		before map[string]State
		err    error
		orders string
		stops  bool
	}{
		"all": {nil, nil, "one: a; two: b c", false},
		"some are done": {map[string]State{"a": {Version: "v2", Whole: true}, "c": {Version: "v2", Whole: true}}, nil,
			"two: b", false},
		"an alarm":          {map[string]State{"b": {Burned: []string{"FastBurn"}}}, nil, "one: a", true},
		"a failed wave":     {nil, errors.New("rolled back"), "one: a", true},
		"not the whole one": {map[string]State{"a": {Version: "v2"}}, nil, "one: a; two: b c", false},
	} {
		cloud := &accounts{states: c.before}
		o := &waves{cloud: cloud, err: c.err}
		r := &Run{Cloud: cloud, Orchestrator: o, Version: "v2", Now: time.Now, Wait: wait, Out: &bytes.Buffer{},
			Waves: []customer.Wave{{Name: "one", Cells: []customer.Settings{{Customer: "a"}}},
				{Name: "two", Cells: []customer.Settings{{Customer: "b"}, {Customer: "c"}}}}}
		err := r.Deploy(t.Context())
		if got := strings.Join(o.orders, "; "); got != c.orders || errors.Is(err, ErrStopped) != c.stops ||
			err != nil && !c.stops {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}
