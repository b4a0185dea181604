// SPDX-License-Identifier: Apache-2.0
// names.js - the names of much-used packages of npm; one that is one edit away from one of them is probably a misspelling, or an
// impostor that waits for it.
'use strict';

const KNOWN = new Set(`
ajv amaro async autoprefixer axios babel-core babel-eslint babel-loader bcrypt bcryptjs better-sqlite3 bluebird body-parser bootstrap
browserify chai chalk cheerio chokidar classnames colors commander compression concurrently connect cookie-parser core-js cors
cross-env cross-spawn crypto-js css-loader csv-parse csv-parser d3 date-fns dayjs debug decimal.js dotenv ejs electron esbuild eslint
eslint-config-prettier eslint-plugin-import eslint-plugin-react event-stream execa express express-session fast-glob fast-xml-parser
fastify file-loader fs-extra glob globby got graphql grunt gulp handlebars highlight.js hono html-webpack-plugin http-proxy husky
immer immutable inquirer ioredis jest jquery js-yaml jsdom json5 jsonwebtoken jszip knex koa leaflet less lint-staged lodash
lodash-es log4js lru-cache mariadb marked mathjs minimatch minimist mkdirp mocha moment moment-timezone mongodb mongoose morgan
multer mysql mysql2 nanoid nestjs next node-fetch node-sass nodemailer nodemon nunjucks nuxt openai ora papaparse passport
passport-jwt passport-local pdf-lib pdfkit pinia pino playwright pm2 postcss prettier prisma prop-types puppeteer qrcode query-string
ramda react react-dom react-redux react-router react-router-dom react-scripts redis redux redux-thunk reflect-metadata request
rimraf rollup rxjs sass sass-loader semver sequelize sharp shelljs socket.io socket.io-client sqlite3 style-loader styled-components
stylelint superagent supertest svelte tailwindcss three through2 ts-jest ts-loader ts-node tslib turndown typeorm typescript
uglify-js underscore url-loader uuid validator vite vitest vue vue-router vuex webpack webpack-cli webpack-dev-server winston ws
xlsx xml2js yaml yargs yup zod zustand
`.trim().split(/\s+/));

function without(name, at) {
	return name.slice(0, at) + name.slice(at + 1);
}

// One letter more, less or other, or two neighbours exchanged.
function is_one_edit(a, b) {
	if (a.length > b.length)
		[a, b] = [b, a];
	if (b.length - a.length === 1)
		return [...b].some((_, at) => without(b, at) === a);
	if (a.length !== b.length)
		return false;
	const differs = [...a].flatMap((letter, at) => letter === b[at] ? [] : [at]);
	return differs.length === 1 || (differs.length === 2 && differs[1] === differs[0] + 1 && a[differs[0]] === b[differs[1]] && a[differs[1]] === b[differs[0]]);
}

// The much-used name that was probably meant; undefined: this one.
exports.meant = (name) => KNOWN.has(name) || name.length < 4 ? undefined : [...KNOWN].find((known) => known.length > 3 && is_one_edit(name, known));
