package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
)

var majorVersion = regexp.MustCompile(`^v\d+$`)

// importName is the name a file uses for the package at p.
func importName(spec *ast.ImportSpec, p string) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	if base := path.Base(p); !majorVersion.MatchString(base) {
		return base
	}
	return path.Base(path.Dir(p))
}

// withImports renews the import block: the model is needed now, coltype often
// no longer.
func (f *file) withImports(src string) string {
	start, end := f.importBlock()
	body := src[end:]
	used := packagesUsed(body)
	var std, others []string
	for name, p := range f.imports {
		switch {
		case !used[name]:
		case strings.Contains(p, "."):
			others = append(others, p)
		default:
			std = append(std, p)
		}
	}
	others = append(others, modelPath)
	return src[:start] + "\n\nimport (\n" + importLines(std) + "\n" + importLines(others) + ")\n" + body
}

// importBlock are the offsets of the import declaration; without one, of the
// end of the package clause.
func (f *file) importBlock() (start, end int) {
	for _, decl := range f.tree.Decls {
		if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.IMPORT {
			return int(gen.Pos()) - 1, int(gen.End()) - 1
		}
	}
	end = int(f.tree.Name.End()) - 1
	return end, end
}

func importLines(paths []string) string {
	slices.Sort(paths)
	var b strings.Builder
	for _, p := range paths {
		fmt.Fprintf(&b, "%q\n", p)
	}
	return b.String()
}

// packagesUsed are the names before a dot in declarations that follow an
// import block; those of variables among them do no harm.
func packagesUsed(body string) map[string]bool {
	used := map[string]bool{}
	tree, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+body, parser.SkipObjectResolution)
	if err != nil {
		return used // format.Source reports it
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok {
				used[id.Name] = true
			}
		}
		return true
	})
	return used
}

// modelImports are the imports of a text of package model. refuseTypes let no
// package but coltype through.
func modelImports(acc *accessors, body string) string {
	used := packagesUsed(body)
	var std, others []string
	if used["context"] {
		std = []string{"context"}
	}
	for _, f := range acc.files {
		if p := f.imports["coltype"]; used["coltype"] && p != "" {
			others = []string{p}
		}
	}
	if len(std)+len(others) == 0 {
		return ""
	}
	return "import (\n" + importLines(std) + "\n" + importLines(others) + ")\n\n"
}
