package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"strings"
)

// published is what packages publish of models.
type published struct {
	// litellm and client are the names and versions of the packages.
	litellm, client string
	// prices are those of litellm, in US dollars for a unit, by its name of the model.
	prices map[string]price
	// endpoints are those of fal.
	endpoints map[string]bool
}

// price is an entry of litellm's table. Amounts are as it writes them, so that no digit is lost.
type price struct {
	Input      json.Number `json:"input_cost_per_token"`
	Output     json.Number `json:"output_cost_per_token"`
	InputLong  json.Number `json:"input_cost_per_token_above_100k_tokens"`
	OutputLong json.Number `json:"output_cost_per_token_above_100k_tokens"`
	Characters json.Number `json:"input_cost_per_character"`
	Image      json.Number `json:"output_cost_per_image"`
	Second     json.Number `json:"output_cost_per_second"`
	Second480  json.Number `json:"output_cost_per_second_480p"`
	Second720  json.Number `json:"output_cost_per_second_720p"`
	Second768  json.Number `json:"output_cost_per_second_768p"`
	Second1080 json.Number `json:"output_cost_per_second_1080p"`
	Ends       string      `json:"deprecation_date"`
}

// readPublished reads the packages.
func readPublished(litellm, client string) (published, error) {
	p := published{litellm: path.Base(litellm), client: path.Base(client), endpoints: map[string]bool{}}
	if parts := strings.SplitN(p.litellm, "-", 3); len(parts) == 3 {
		p.litellm = parts[0] + " " + parts[1]
	}
	p.client = strings.TrimSuffix(p.client, ".tgz")
	raw, err := priceTable(litellm)
	if err != nil {
		return p, fmt.Errorf("%s: %w", litellm, err)
	}
	if err := json.Unmarshal(raw, &p.prices); err != nil {
		return p, fmt.Errorf("%s: %w", litellm, err)
	}
	types, err := endpointTypes(client)
	if err != nil {
		return p, fmt.Errorf("%s: %w", client, err)
	}
	for _, found := range endpoint.FindAllStringSubmatch(types, -1) {
		p.endpoints[found[1]] = true
	}
	if len(p.endpoints) == 0 || len(p.prices) == 0 {
		return p, errors.New("a package has another form than it had")
	}
	return p, nil
}

// endpoint matches an endpoint among the types of fal's client.
var endpoint = regexp.MustCompile(`(?m)^\s*"([a-z0-9-]+/[A-Za-z0-9./_-]+)":\s*\{`)

// priceTable returns the table of prices in a wheel of litellm.
func priceTable(file string) ([]byte, error) {
	z, err := zip.OpenReader(file)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	f, err := z.Open("litellm/model_prices_and_context_window_backup.json")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// endpointTypes returns the file with the types of the endpoints in a package of fal's client.
func endpointTypes(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return "", err
	}
	for files := tar.NewReader(unzipped); ; {
		h, err := files.Next()
		if err != nil {
			return "", err
		}
		if strings.HasSuffix(h.Name, "/types/endpoints.d.ts") {
			raw, err := io.ReadAll(files)
			return string(raw), err
		}
	}
}
