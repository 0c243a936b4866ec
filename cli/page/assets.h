/* What a page is made with, as texts that CMake writes from the files beside this one and from Debian's D3. */
#ifndef CLI_PAGE_ASSETS_H
#define CLI_PAGE_ASSETS_H

extern const char page_style[];   /* page.css */
extern const char page_script[];  /* *.js, in the order of their names */
extern const char page_d3[];      /* D3 3.5, minified */
extern const char page_licence[]; /* D3's licence */
extern const char page_live[];    /* the model as WebAssembly, gzip in base64 (live/build.sh); empty: built without */
extern const char page_live_licence[];
#endif
