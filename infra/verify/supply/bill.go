package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// writeBill writes the bill of the checkout at root into the folder.
func writeBill(ctx context.Context, root, folder string) error {
	parts, err := parts(ctx, root)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	bill, err := bill(parts)
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{"functions.cdx.json": bill, "licences.tsv": list(parts)} {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
			return err
		}
	}
	return accepted(parts)
}

// bill renders the parts as CycloneDX in JSON. It leaves out the time and the serial number, so
// that the same sources have the same bill.
func bill(parts []part) ([]byte, error) {
	components := make([]cdx.Component, 0, len(parts))
	for _, p := range parts {
		c := cdx.Component{
			BOMRef: p.purl, Type: cdx.ComponentTypeLibrary, Name: p.name, Version: p.version, PackageURL: p.purl,
			Licenses: &cdx.Licenses{}, Properties: &[]cdx.Property{},
		}
		for _, licence := range p.licences {
			*c.Licenses = append(*c.Licenses, cdx.LicenseChoice{License: &cdx.License{ID: licence}})
		}
		for _, function := range p.functions {
			*c.Properties = append(*c.Properties, cdx.Property{Name: "content-automation:function", Value: function})
		}
		if p.sum != "" {
			sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(p.sum, "h1:"))
			if err != nil {
				return nil, fmt.Errorf("the checksum of %s: %w", p.name, err)
			}
			// The hash of the module's files, as golang.org/x/mod/sumdb/dirhash computes it.
			c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
		}
		components = append(components, c)
	}
	b := cdx.NewBOM()
	b.Metadata = &cdx.Metadata{Component: &cdx.Component{
		BOMRef: "functions", Type: cdx.ComponentTypeApplication, Name: "github.com/content-automation/api",
		Licenses: &cdx.Licenses{{License: &cdx.License{ID: "MIT"}}},
	}}
	b.Components = &components
	var out bytes.Buffer
	err := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).Encode(b)
	return out.Bytes(), err
}
