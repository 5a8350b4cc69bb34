package fleet

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/infra/app/orchestrator"
)

// Store is the bucket of a region.
type Store interface {
	// Has reports whether there is an object.
	Has(ctx context.Context, bucket, key string) (bool, error)
	Put(ctx context.Context, bucket, key string, content []byte) error
}

// Publisher publishes the templates and the code of cells. What several cells share is stored once a region, under the
// hash of its content.
type Publisher struct {
	Store Store
	// Exists reports whether a cell has a stack.
	Exists func(ctx context.Context, of customer.Settings, stack string) (bool, error)

	mu    sync.Mutex
	known map[string]*sync.Once
	errs  map[string]error
}

// assets is the part of the CDK's list of the assets of a stack that a publication needs.
type assets struct {
	Files map[string]struct {
		Source       struct{ Path, Packaging string }
		Destinations map[string]struct{ BucketName, ObjectKey string }
	}
}

// Publish publishes what the CDK has synthesised for a cell into a folder, and returns the cell's entry in the list of
// its wave.
func (p *Publisher) Publish(ctx context.Context, of customer.Settings, version, dir string) (orchestrator.Cell, error) {
	c := orchestrator.Cell{Cell: of.Name(), Role: of.DeployRole, Version: version, Executor: fmt.Sprintf(
		"arn:aws:iam::%s:role/cdk-hnb659fds-cfn-exec-role-%[1]s-%s", of.Account, of.Region)}
	if of.DeployRole == "" {
		return c, fmt.Errorf("%s has no deployRole, which the orchestrator assumes", of.Customer)
	}
	for i, part := range customer.Parts {
		s := orchestrator.Stack{Name: of.StackName(part), Type: "CREATE", First: i == 0,
			Tags: []orchestrator.Tag{{Key: "customer", Value: of.Customer}, {Key: "service", Value: "content-automation"},
				{Key: "stage", Value: of.Stage}}}
		var err error
		if s.Template, err = p.stack(ctx, of, filepath.Join(dir, s.Name)); err != nil {
			return c, fmt.Errorf("publish %s: %w", s.Name, err)
		}
		exists, err := p.Exists(ctx, of, s.Name)
		if err != nil {
			return c, err
		}
		if exists {
			s.Type = "UPDATE"
		}
		c.Stacks = append(c.Stacks, s)
	}
	return c, nil
}

// stack publishes the assets of a stack, and returns the address of its template.
func (p *Publisher) stack(ctx context.Context, of customer.Settings, base string) (template string, err error) {
	text, err := os.ReadFile(base + ".assets.json")
	if err != nil {
		return "", err
	}
	var list assets
	if err := json.Unmarshal(text, &list); err != nil {
		return "", err
	}
	for _, file := range list.Files {
		for _, to := range file.Destinations {
			path := filepath.Join(filepath.Dir(base), file.Source.Path)
			if err := p.once(ctx, to.BucketName, to.ObjectKey, path, file.Source.Packaging); err != nil {
				return "", err
			}
			if path == base+".template.json" {
				template = fmt.Sprintf("https://%s.s3.%s.amazonaws.com/%s", to.BucketName, of.Region, to.ObjectKey)
			}
		}
	}
	if template == "" {
		return "", errors.New("its assets have no template")
	}
	return template, nil
}

// once stores a file unless the bucket has it, or another cell of this run stores it.
func (p *Publisher) once(ctx context.Context, bucket, key, path, packaging string) error {
	at := bucket + "/" + key
	p.mu.Lock()
	if p.known == nil {
		p.known, p.errs = map[string]*sync.Once{}, map[string]error{}
	}
	if p.known[at] == nil {
		p.known[at] = &sync.Once{}
	}
	one := p.known[at]
	p.mu.Unlock()
	one.Do(func() {
		err := p.store(ctx, bucket, key, path, packaging)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.errs[at] = err
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.errs[at]
}

func (p *Publisher) store(ctx context.Context, bucket, key, path, packaging string) error {
	if has, err := p.Store.Has(ctx, bucket, key); err != nil || has {
		return err
	}
	content, err := pack(path, packaging)
	if err != nil {
		return err
	}
	return p.Store.Put(ctx, bucket, key, content)
}

// pack returns the content of an asset: a file, or a folder as an archive.
func pack(path, packaging string) ([]byte, error) {
	if packaging == "file" {
		return os.ReadFile(path)
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := os.Stat(name) // a link is what it points to
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(path, name)
		if err != nil {
			return err
		}
		h := &zip.FileHeader{Name: filepath.ToSlash(inside), Method: zip.Deflate}
		h.SetMode(info.Mode())
		f, err := w.CreateHeader(h)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(name)
		if err == nil {
			_, err = f.Write(content)
		}
		return err
	})
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

// List stores the list of the cells of a wave in a region, and returns the input of its execution.
func (p *Publisher) List(ctx context.Context, bucket, version, wave string,
	cells []orchestrator.Cell) (orchestrator.Input, error) {
	in := orchestrator.Input{Bucket: bucket, Key: "waves/" + version + "/" + wave + ".json"}
	slices.SortFunc(cells, func(a, b orchestrator.Cell) int { return strings.Compare(a.Cell, b.Cell) })
	text, err := json.Marshal(cells)
	if err != nil {
		return in, err
	}
	return in, p.Store.Put(ctx, bucket, in.Key, text)
}
